import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ClosedError } from '../../src/errors/index.ts'
import { Secret } from '../../src/secret/secret.ts'
import { describeThrown, printableCause, TimeLimitError } from '../../src/vault/log-in.ts'
import { TemporaryError } from '../../src/vault/login-handler.ts'

const secret = 'a-secret-without-any-known-shape'

class Loud extends Error {
  readonly #request = { headers: { authorization: secret } };
  [inspect.custom](): string {
    return `Loud ${this.#request.headers.authorization}`
  }
}

const hiding: readonly (readonly [string, () => unknown])[] = [
  ['under a symbol', () => Object.assign(new Error('no'), { [Symbol('request')]: { secret } })],
  ['in a field of its own', () => Object.assign(new Error('no'), { request: { secret } })],
  ['in a class that prints itself', () => new Loud('no')],
  ['in its cause', () => new Error('no', { cause: new Loud('inner') })],
]

describe('what a handler threw', () => {
  it.each(hiding)('does not show %s', (_, make) => {
    const cause = printableCause(make(), [])
    expect(inspect(cause, { showHidden: true, depth: 9 })).not.toContain(secret)
    expect(JSON.stringify(cause)).not.toContain(secret)
    expect(String(cause)).toContain('no')
  })

  it('is kept if it holds no secret', () => {
    for (const error of [
      new Error('no'),
      new TypeError('no', { cause: new Error('why') }),
      new TemporaryError('later'),
      Object.assign(new Error('no'), { code: 'ENOENT', errno: -2, syscall: 'open', path: '/x' }),
    ]) {
      expect(printableCause(error, [])).toBe(error)
    }
  })

  it('is replaced by a copy if it holds a known secret in its message, name or stack', () => {
    const known = [new Secret(secret)]
    for (const error of [
      new Error(`no: ${secret}`),
      Object.assign(new Error('no'), { name: `no ${secret}` }),
      Object.assign(new Error('no'), { stack: `Error: no\n at ${secret}` }),
      Object.assign(new Error('no'), { path: secret }),
      new Error('no', { cause: secret }),
    ]) {
      const copy = printableCause(error, known)
      expect(copy).not.toBe(error)
      expect(copy).toBeInstanceOf(Error)
      expect(inspect(copy, { showHidden: true, depth: 9 })).not.toContain(secret)
      expect(copy).toMatchObject({ message: expect.stringContaining('no') })
    }
  })

  it('is kept in part or not at all if it is not an error', () => {
    expect(printableCause(`no: ${secret}`, [new Secret(secret)])).toBe('no: [secret]')
    expect(printableCause('no', [])).toBe('no')
    expect(printableCause(5, [])).toBe(5)
    expect(printableCause(null, [])).toBe(null)
    expect(printableCause({ request: secret }, [])).toBeUndefined()
    expect(printableCause([secret], [])).toBeUndefined()
    expect(printableCause(() => secret, [])).toBeUndefined()
  })

  it('is not searched without end: a long chain of causes is not kept', () => {
    const chain = (length: number): Error =>
      new Error('no', length === 0 ? undefined : { cause: chain(length - 1) })
    const short = chain(5)
    expect(printableCause(short, [])).toBe(short)
    const long = chain(6)
    expect(printableCause(long, [])).not.toBe(long)
    const several = new AggregateError([new Error(secret)], 'no')
    expect(inspect(printableCause(several, []))).not.toContain(secret)
  })

  it('is described in at most 300 characters, with the hint of our own errors', () => {
    expect(describeThrown(new Error('x'.repeat(400)), 0)).toHaveLength(300)
    expect(describeThrown(new TimeLimitError(), 5000)).toBe('it took longer than 5000 ms')
    const { message, hint } = new ClosedError()
    expect(describeThrown(new ClosedError(), 0)).toBe(`${message} (${hint})`)
    expect(describeThrown(new Error(secret), 0, [new Secret(secret)])).toBe('[secret]')
  })
})
