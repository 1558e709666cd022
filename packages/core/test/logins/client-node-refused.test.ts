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

  it('does not apply without a context, so that the next login can be tried', async () => {
    using program = new ProgramFolder()
    const kubeconfig = program.kubeconfig('k', oneContext({ server }, {}))
    const kubeConfig = new KubeConfig()
    const info =
      (await loginViaClientNode(CONTEXT, { kubeConfig })) ??
      (await loginWithKubeconfig(CONTEXT, { kubeconfig }))
    expect(info?.server).toBe(server)
  })

  it('does not apply if client-node found nothing and made up an address', async () => {
    using program = new ProgramFolder()
    vi.stubEnv('HOME', program.folder)
    vi.stubEnv('KUBECONFIG', '')
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromDefault()
    vi.unstubAllEnvs()
    expect(kubeConfig.getCurrentCluster()?.server).toBe('http://localhost:8080')
    expect(await loginViaClientNode(CONTEXT, { kubeConfig })).toBeUndefined()
    // A program that really uses that address has set more fields.
    kubeConfig.clusters[0] = { name: 'mine', server: 'http://localhost:8080', skipTLSVerify: true }
    kubeConfig.contexts[0] = { name: 'loaded-context', cluster: 'mine', user: 'user' }
    const meant = await loginViaClientNode(CONTEXT, { kubeConfig })
    expect(meant?.server).toBe('http://localhost:8080')
  })

  it('is an error if its names do not exist', async () => {
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

  it('supports the auth provider oidc; removed and unknown ones are errors with a hint', async () => {
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

  it('is an error with an authenticator of the program, unless it has a token', async () => {
    const kubeConfig = new KubeConfig()
    kubeConfig.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: () => Promise.reject(new Error('must not be called')),
    })
    kubeConfig.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: false }, { name: 'u' })
    await expect(loginViaClientNode(CONTEXT, { kubeConfig })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      message: 'user "u" of the KubeConfig logs in with an authenticator that was added to it',
    })
    kubeConfig.users[0] = { name: 'u', token: 't' }
    expect((await loginViaClientNode(CONTEXT, { kubeConfig }))?.server).toBe(server)
  })

  it('is a TypeError if it is not a KubeConfig, and so is an unknown option', async () => {
    for (const kubeConfig of [{}, null, 'x'] as never[]) {
      await expect(loginViaClientNode(CONTEXT, { kubeConfig })).rejects.toThrow(
        /must be a KubeConfig/,
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

describe('options of loginViaClientNode()', () => {
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromString(JSON.stringify(oneContext({ server: 'https://one' }, {})))

  it('set the priority, and whether the proxies of the environment are used', async () => {
    const plain = await loginViaClientNode(CONTEXT, { kubeConfig })
    expect(plain?.login).toMatchObject({ priority: 10, trustEnv: true })
    const info = await loginViaClientNode(CONTEXT, { kubeConfig, priority: 3, trustEnv: false })
    expect(info?.login).toMatchObject({ priority: 3, trustEnv: false })
  })

  it('respect an abort before and during the login', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const login = loginViaClientNode({ signal }, { kubeConfig })
    controller.abort(new Error('enough'))
    await expect(login).rejects.toThrow('enough')
    await expect(loginViaClientNode({ signal }, { kubeConfig })).rejects.toThrow('enough')
  })
})
