import { KubeConfig, type User } from '@kubernetes/client-node'
import { loginViaClientNode, loginWithKubeconfig } from 'kubecred/logins'
import { describe, expect, it, vi } from 'vitest'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { CONTEXT, oneContext, ProgramFolder } from './scene.ts'

describe('a KubeConfig that cannot be used', () => {
  const server = 'https://one'
  const login = (user: Omit<User, 'name'>) => {
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromClusterAndUser(
      { name: 'c', server, skipTLSVerify: false },
      { name: 'u', ...user },
    )
    return loginViaClientNode(CONTEXT, { kubeConfig })
  }

  it('without a context does not apply, and the next login can be asked', async () => {
    using program = new ProgramFolder()
    const kubeconfig = program.kubeconfig('k', oneContext({ server }, {}))
    const kubeConfig = new KubeConfig()
    const info =
      (await loginViaClientNode(CONTEXT, { kubeConfig })) ??
      (await loginWithKubeconfig(CONTEXT, { kubeconfig }))
    expect(info?.server).toBe(server)
  })

  it('of which client-node made up an address, because it found nothing, does not apply', async () => {
    using program = new ProgramFolder()
    vi.stubEnv('HOME', program.folder)
    vi.stubEnv('KUBECONFIG', '')
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromDefault()
    vi.unstubAllEnvs()
    expect(kubeConfig.getCurrentCluster()?.server).toBe('http://localhost:8080')
    expect(await loginViaClientNode(CONTEXT, { kubeConfig })).toBeUndefined()
    // Somebody who means that address has said more about it.
    kubeConfig.clusters[0] = { name: 'mine', server: 'http://localhost:8080', skipTLSVerify: true }
    kubeConfig.contexts[0] = { name: 'loaded-context', cluster: 'mine', user: 'user' }
    const meant = await loginViaClientNode(CONTEXT, { kubeConfig })
    expect(meant?.server).toBe('http://localhost:8080')
  })

  it('with names that lead nowhere is an error', async () => {
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromString(JSON.stringify(oneContext({ server }, {})))
    kubeConfig.setCurrentContext('nowhere')
    await expect(loginViaClientNode(CONTEXT, { kubeConfig })).rejects.toMatchObject({
      code: 'ERR_CONTEXT_NOT_FOUND',
      hint: 'Use one of these contexts: "here".',
    })
    kubeConfig.setCurrentContext('here')
    kubeConfig.clusters = []
    await expect(loginViaClientNode(CONTEXT, { kubeConfig })).rejects.toMatchObject({
      code: 'ERR_CLUSTER_NOT_FOUND',
    })
  })

  it('of a provider: oidc is ours, removed ones and unknown ones are errors that help', async () => {
    const config = { 'idp-issuer-url': 'https://i', 'client-id': 'x', 'id-token': 'a.b.c' }
    const info = await login({ authProvider: { name: 'oidc', config } })
    expect(info?.login.connection.user.oidc?.idToken?.expose()).toBe('a.b.c')
    await expect(login({ authProvider: { name: 'azure', config: {} } })).rejects.toMatchObject({
      code: 'ERR_AUTH_PROVIDER_REMOVED',
      hint: expect.stringContaining('kubelogin'),
    })
    await expect(login({ authProvider: { name: 'mine', config: {} } })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
    })
  })

  it('with an authenticator of the program is an error, unless a token makes it unused', async () => {
    const kubeConfig = new KubeConfig()
    kubeConfig.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: () => Promise.reject(new Error('must not be called')),
    })
    kubeConfig.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: false }, { name: 'u' })
    await expect(loginViaClientNode(CONTEXT, { kubeConfig })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      message: 'user "u" of the KubeConfig logs in by an authenticator that was added to it',
    })
    kubeConfig.users[0] = { name: 'u', token: 't' }
    expect((await loginViaClientNode(CONTEXT, { kubeConfig }))?.server).toBe(server)
  })

  it('that is none is a TypeError, and so is an option that does not exist', async () => {
    for (const kubeConfig of [{}, null, 'x'] as never[]) {
      await expect(loginViaClientNode(CONTEXT, { kubeConfig })).rejects.toThrow(
        /takes a KubeConfig/,
      )
    }
    const misspelt = { kubeconfig: '/k' } as never
    await expect(loginViaClientNode(CONTEXT, misspelt)).rejects.toThrow(/did you mean kubeConfig\?/)
  })

  it('never shows a secret', async () => {
    const [token, password] = ['s3cret-71c0-token', 's3cret-82d1-password'] as const
    const shown = await Promise.all([
      login({ token, username: 'jane', password }),
      login({ token, certData: 'no base64 !' }).catch((error: unknown) => error),
      login({ token: 5 as never, password }).catch((error: unknown) => error),
      login({ authProvider: { name: 'gcp', config: { 'access-token': token } } }).catch(
        (error: unknown) => error,
      ),
    ])
    expect(shown.slice(1).every((each) => each instanceof Error)).toBe(true)
    expectNoLeak(shown, [token, password])
  })
})

describe('what the caller says', () => {
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromString(JSON.stringify(oneContext({ server: 'https://one' }, {})))

  it('priority, and whether the proxies of the environment count', async () => {
    const plain = await loginViaClientNode(CONTEXT, { kubeConfig })
    expect(plain?.login).toMatchObject({ priority: 10, trustEnv: true })
    const told = await loginViaClientNode(CONTEXT, { kubeConfig, priority: 3, trustEnv: false })
    expect(told?.login).toMatchObject({ priority: 3, trustEnv: false })
  })

  it('an abort before or meanwhile', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const login = loginViaClientNode({ signal }, { kubeConfig })
    controller.abort(new Error('enough'))
    await expect(login).rejects.toThrow('enough')
    await expect(loginViaClientNode({ signal }, { kubeConfig })).rejects.toThrow('enough')
  })
})
