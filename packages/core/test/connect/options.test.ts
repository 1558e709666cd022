import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { describe, expect, it } from 'vitest'

const SERVER = 'https://127.0.0.1:1'

describe('connect()', () => {
  it.each<[string, unknown, string]>([
    ['an option', { contxt: 'prod' }, 'connect() has no option "contxt"; did you mean context?'],
    ['its case', { kubeConfig: '/a' }, 'connect() has no option "kubeConfig"; did you mean kubec'],
    ['one like no other', { retries: 3 }, 'connect() has no option "retries"; it has kubeconfig, '],
    ['a short one', { x: 3 }, 'connect() has no option "x"; it has kubeconfig, '],
    [
      'a rule, which would not hold',
      { policy: { refuseWriteablePlugins: true } },
      'policy has no option "refuseWriteablePlugins"; did you mean refuseWritablePlugins?',
    ],
    ['a transport', { transport: 'h3' }, "transport must be 'pool', 'https' or 'http2', got h3"],
    [
      'a token beside a vault',
      { vault: new Vault(), token: 't' },
      'token cannot be combined with vault: return it from a login handler',
    ],
    ['a path', '/path', 'connect() takes its options as an object, such as { kubeconfig: … }'],
    ['null', null, 'connect() takes its options as an object'],
    ['a list of paths', ['/path'], 'connect() takes its options as an object'],
    ['a policy by name', { policy: 'strict' }, 'policy takes its options as an object'],
  ])('rejects %s with a clear message', async (_, options, message) => {
    const error = await connect(options as never).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toContain(message)
  })

  it('treats undefined as absent', async () => {
    const options = { server: SERVER, env: {}, transport: undefined, policy: undefined }
    await using cluster = await connect({ ...options, other: undefined } as never)
    expect(cluster.server).toBe(SERVER)
  })
})

describe('a vault', () => {
  it.each<[string, unknown, string]>([
    ['an option', { queuLimit: 5 }, 'new Vault() has no option "queuLimit"; did you mean queueLi'],
    ['one of a handler', { retries: 3 }, 'new Vault() has no option "retries"; it has freezeLimit'],
    ['a grace below 0', { priorityGraceMs: -1 }, 'priorityGraceMs must be 0 or a whole number'],
    ['a limit of 0', { freezeLimitMs: 0 }, 'freezeLimitMs must be a whole number above 0, got 0'],
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
})
