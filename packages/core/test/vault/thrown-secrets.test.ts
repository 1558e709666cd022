import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { printableCause } from '../../src/vault/log-in.ts'
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
})
