import { format, inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/secret/secret.ts'

const VALUE = 'hunter2-hunter2'
const secret = new Secret(VALUE)

describe('a secret is not shown', () => {
  it.each<[string, () => string]>([
    ['in a template', () => `${secret}`],
    ['in a concatenation', () => `x${String(secret)}`],
    ['when joined', () => [secret, secret].join()],
    ['in JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['when inspected', () => inspect(secret)],
    [
      'when inspected with everything',
      () => inspect({ a: { b: { secret } } }, { depth: 9, showHidden: true }),
    ],
    [
      'when inspected by a subclass',
      () => inspect(new (class Pin extends Secret {})(VALUE), { showHidden: true }),
    ],
    ['in a format', () => format('%s %o %O %j', secret, secret, secret, secret)],
    ['in an error', () => new Error(`no ${secret}`).message],
    [
      'in the cause of an error',
      () => inspect(new Error('x', { cause: { secret } }), { depth: 9 }),
    ],
    [
      'among its properties',
      () => [...Object.getOwnPropertyNames(secret), ...Object.entries(secret)].join(),
    ],
    ['in a copy', () => JSON.stringify({ ...secret })],
    ['in a clone', () => inspect(structuredClone({ ...secret }), { showHidden: true })],
    ['in a map', () => inspect(new Map([[secret, secret]]))],
  ])('%s', (_, show) => {
    expect(show()).not.toContain('hunter2')
  })

  it('but a placeholder is shown', () => {
    expect([`${secret}`, inspect(secret), JSON.stringify(secret)]).toEqual([
      '[secret]',
      '[secret]',
      '"[secret]"',
    ])
  })
})

it('a secret is returned by expose() only', () => {
  expect(secret.expose()).toBe(VALUE)
})
