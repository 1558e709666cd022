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
