import { Vault } from 'kubecred/vault'
import { describe, expect, it } from 'vitest'

describe('a vault', () => {
  it.each<[string, unknown, string]>([
    ['an option', { queuLimit: 5 }, 'new Vault() has no option "queuLimit"; did you mean queueLi'],
    ['one of a handler', { retries: 3 }, 'new Vault() has no option "retries"; it has freezeLimit'],
    ['a grace below 0', { priorityGraceMs: -1 }, 'priorityGraceMs must be 0 or a whole number'],
    ['a limit of 0', { freezeLimitMs: 0 }, 'freezeLimitMs must be a whole number above 0, got 0'],
    ['a fraction', { queueLimit: 1.5 }, 'queueLimit must be a whole number above 0, got 1.5'],
    ['a text', { queueLimit: '5' }, 'queueLimit must be a whole number above 0, got 5'],
    ['a part of a millisecond', { priorityGraceMs: 0.5 }, 'priorityGraceMs must be 0 or a whole'],
    ['a number', 5, 'new Vault() takes its options as an object, such as { freezeLimitMs: … }'],
  ])('rejects %s with a clear message', (_, options, message) => {
    expect(() => new Vault(options as never)).toThrow(TypeError)
    expect(() => new Vault(options as never)).toThrow(message)
  })

  it.each<[string, unknown, string]>([
    ['an option', { atempts: 3 }, 'onLogin() has no option "atempts"; did you mean attempts?'],
    [
      'one of the vault',
      { freezeLimitMs: 5 },
      'onLogin() has no option "freezeLimitMs"; it has id',
    ],
    ["kopf's retries", { retries: 3 }, 'has no option "retries"; use attempts, which counts the'],
    ["kopf's timeout", { timeout: 10 }, 'has no option "timeout"; use timeoutMs, in milliseconds'],
    ["kopf's backoff", { backoff: 10 }, 'has no option "backoff"; use backoffMs, in milliseconds'],
    ["kopf's param", { param: 'x' }, 'has no option "param"; pass the value in a closure'],
    ["kopf's registry", { registry: {} }, 'has no option "registry"; call onLogin() of the Vault'],
    ["kopf's errors", { errors: 'PERMANENT' }, 'errors must be one of temporary, permanent, igno'],
    ['no attempt', { attempts: 0 }, 'attempts must be a whole number above 0, got 0'],
    ['a negative time', { timeoutMs: -5 }, 'timeoutMs must be a whole number above 0, got -5'],
    ['a pause of 0', { backoffMs: 0 }, 'backoffMs must be a whole number above 0, got 0'],
    ['an id', 'corp', 'onLogin() takes its options as an object, such as { id: … }'],
  ])('rejects %s of a handler with a clear message', (_, options, message) => {
    const vault = new Vault()
    expect(() => vault.onLogin(() => undefined, options as never)).toThrow(TypeError)
    expect(() => vault.onLogin(() => undefined, options as never)).toThrow(message)
  })

  it('treats undefined as absent', () => {
    const none = { other: undefined } as never
    expect(new Vault(none).onLogin(() => undefined, none)).toBeInstanceOf(Vault)
    expect(new Vault({ priorityGraceMs: 0 })).toBeInstanceOf(Vault)
  })

  it('accepts the smallest limits, and every way to count errors', () => {
    const vault = new Vault({ freezeLimitMs: 1, queueLimit: 1, priorityGraceMs: 0 })
    for (const errors of ['temporary', 'permanent', 'ignored'] as const) {
      vault.onLogin(() => undefined, {
        id: errors,
        attempts: 1,
        timeoutMs: 1,
        backoffMs: 1,
        errors,
      })
    }
    expect(vault.status()).toBeUndefined()
  })

  it('rejects a handler that is not a function', () => {
    expect(() => new Vault().onLogin({ server: 'https://one.test' } as never)).toThrow(
      'onLogin() takes a function',
    )
  })

  it('rejects any other value of log', () => {
    for (const log of ['some', '', 'ALL', true, null]) {
      expect(() => new Vault({ log: log as 'all' })).toThrow(
        /log must be one of all, first, none, got/,
      )
    }
    for (const log of ['all', 'first', 'none'] as const) {
      expect(() => new Vault({ log })).not.toThrow()
    }
  })
})
