// After kopf's tests/authentication/test_login_kubeconfig.py, and what its authors left out.
import { mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { startSandbox } from '@kubecred/sandbox'
import { loginWithKubeconfig } from 'kubecred/logins'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CONTEXT, loggingContext, oneContext, ProgramFolder, userOf } from './scene.ts'

const pod = vi.hoisted(() => ({ folder: '/nowhere' }))
vi.mock('../../src/kubeconfig/in-cluster.ts', async (load) => ({
  ...(await load<object>()),
  get SERVICE_ACCOUNT_FOLDER() {
    return pod.folder
  },
}))

let program: ProgramFolder
beforeEach(() => {
  program = new ProgramFolder()
})
afterEach(() => program[Symbol.dispose]())

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const PEM = '-----BEGIN X-----\nAA==\n-----END X-----\n'

describe('the kubeconfig', () => {
  it.each([
    ['absent', {}],
    ['empty', { KUBECONFIG: '' }],
  ])('does not apply with KUBECONFIG %s and no file in the home folder', async (_, env) => {
    expect(await loginWithKubeconfig(CONTEXT, { env })).toBeUndefined()
    const home = { ...env, HOME: program.folder }
    expect(await loginWithKubeconfig(CONTEXT, { env: home })).toBeUndefined()
  })

  it('is read from KUBECONFIG, even without a home folder', async () => {
    const KUBECONFIG = program.kubeconfig('k', oneContext({ server: 'https://one' }, {}))
    const info = await loginWithKubeconfig(CONTEXT, { env: { KUBECONFIG } })
    expect(info?.server).toBe('https://one')
  })

  it.each([
    ['absent', {}],
    ['empty', { KUBECONFIG: '' }],
  ])('is read from the home folder with KUBECONFIG %s', async (_, env) => {
    program.kubeconfig('.kube/config', oneContext({ server: 'https://home' }, {}))
    const home = { ...env, HOME: program.folder }
    expect((await loginWithKubeconfig(CONTEXT, { env: home }))?.server).toBe('https://home')
  })

  it('does not apply if KUBECONFIG names only missing files, as with kubectl; an explicit one fails', async () => {
    const path = join(program.folder, 'nowhere')
    expect(await loginWithKubeconfig(CONTEXT, { env: { KUBECONFIG: path } })).toBeUndefined()
    const explicit = loginWithKubeconfig(CONTEXT, { kubeconfig: path, env: {} })
    await expect(explicit).rejects.toMatchObject({ code: 'ERR_KUBECONFIG_NOT_FOUND' })
  })

  it('is never the service account of the pod, which is another login', async () => {
    pod.folder = program.folder
    program.write('token', 'x')
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
    expect(await loginWithKubeconfig(CONTEXT, { env })).toBeUndefined()
  })
})

describe('the content of the kubeconfig', () => {
  const read = (content: object) => {
    const kubeconfig = program.kubeconfig('k', content)
    return loginWithKubeconfig(CONTEXT, { kubeconfig, env: {} })
  }

  it('fails with its position if it is broken, without quoting it', async () => {
    const KUBECONFIG = program.write('k', 'users: [{user: {token: s3cret-71c0')
    const error = await loginWithKubeconfig(CONTEXT, { env: { KUBECONFIG } }).catch((each) => each)
    expect(error).toMatchObject({ code: 'ERR_KUBECONFIG_SYNTAX', path: KUBECONFIG })
    expect(error.message).not.toContain('s3cret')
  })

  it('does not apply if it is empty; an explicit one fails and names the context', async () => {
    const KUBECONFIG = program.kubeconfig('k', { contexts: [] })
    expect(await loginWithKubeconfig(CONTEXT, { env: { KUBECONFIG } })).toBeUndefined()
    const content = { ...oneContext({ server: 'https://one' }, {}), 'current-context': '' }
    await expect(read(content)).rejects.toMatchObject({
      code: 'ERR_KUBECONFIG_EMPTY',
      message: expect.stringContaining('current-context is not set'),
    })
  })

  it('can be just a server, anonymously', async () => {
    const info = await read(oneContext({ server: 'https://one' }, {}))
    expect(info?.login).toMatchObject({
      priority: 10,
      trustEnv: true,
      expiresAt: Number.POSITIVE_INFINITY,
      connection: { cluster: { insecureSkipTlsVerify: false }, namespace: 'default' },
    })
    expect(info?.login.connection.user).toEqual({ name: 'u' })
  })

  it('can name files, relative to the kubeconfig wherever the program runs', async () => {
    const cluster = {
      server: 'https://one',
      'certificate-authority': 'ca.crt',
      'tls-server-name': 'other',
      'proxy-url': 'http://proxy:3128',
    }
    const user = { tokenFile: 't', 'client-certificate': 'c', 'client-key': '/abs/k' }
    mkdirSync(join(program.folder, 'sub'))
    const kubeconfig = program.kubeconfig('sub/k', oneContext(cluster, user, 'ns'))
    const info = await loginWithKubeconfig(CONTEXT, { kubeconfig, env: {} })
    const at = (name: string): string => join(program.folder, 'sub', name)
    const { connection } = info?.login ?? {}
    expect(connection).toMatchObject({
      namespace: 'ns',
      cluster: {
        server: 'https://one',
        tlsServerName: 'other',
        certificateAuthority: { from: 'file', path: at('ca.crt') },
      },
      user: {
        tokenFile: at('t'),
        certificate: {
          chain: { from: 'file', path: at('c') },
          key: { from: 'file', path: '/abs/k' },
        },
      },
    })
    expect(connection?.cluster.proxyUrl?.expose()).toBe('http://proxy:3128')
  })

  it('can hold data', async () => {
    const info = await read(
      oneContext(
        { server: 'https://one', 'certificate-authority-data': base64(PEM) },
        {
          username: 'jane',
          password: 's3cret-71c0',
          'client-certificate-data': base64(PEM),
          'client-key-data': base64(PEM),
        },
      ),
    )
    const { cluster, user } = info?.login.connection ?? {}
    expect(cluster?.certificateAuthority).toEqual({ from: 'data', data: PEM })
    expect(user?.certificate?.chain).toEqual({ from: 'data', data: PEM })
    expect(user?.basic?.password.expose()).toBe('s3cret-71c0')
    expect(JSON.stringify(info)).toBe('{"server":"https://one"}')
  })

  it('can have an auth-provider: oidc is used, and for a removed one the error says what to write', async () => {
    const config = { 'idp-issuer-url': 'https://i', 'client-id': 'x', 'id-token': 'a.b.c' }
    const oidc = { 'auth-provider': { name: 'oidc', config } }
    const info = await read(oneContext({ server: 'https://one' }, oidc))
    expect(info?.login.connection.user.oidc?.idToken?.expose()).toBe('a.b.c')
    const gcp = { 'auth-provider': { name: 'gcp', config: { 'access-token': 's3cret' } } }
    await expect(read(oneContext({ server: 'https://one' }, gcp))).rejects.toMatchObject({
      code: 'ERR_AUTH_PROVIDER_REMOVED',
      hint: expect.stringContaining('gke-gcloud-auth-plugin'),
    })
  })

  it('shows the impersonated user wherever it is printed', async () => {
    const user = { token: 'x', as: 'less', 'as-groups': ['few'] }
    const info = await read(oneContext({ server: 'https://one' }, user))
    expect(info?.login.connection.user.impersonate).toMatchObject({ user: 'less', groups: ['few'] })
    expect(JSON.parse(JSON.stringify(info))).toEqual({ server: 'https://one', as: 'less' })
  })

  it('is logged with its warnings, once', async () => {
    const context = loggingContext()
    const kubeconfig = program.kubeconfig('k', oneContext({ server: 'http://one' }, { token: 'x' }))
    await loginWithKubeconfig(context, { kubeconfig, env: {} })
    await loginWithKubeconfig({ ...context, reason: 'refused' }, { kubeconfig, env: {} })
    expect(context.lines).toEqual([
      expect.stringMatching(/uses http, so the credentials .* not sent/),
    ])
  })
})

describe('several kubeconfigs', () => {
  const whole = oneContext({ server: 'https://one' }, { token: 'one' }) as Record<string, unknown>
  const pick = (...names: string[]) => Object.fromEntries(names.map((name) => [name, whole[name]]))
  const read = (...contents: object[]) => {
    const files = contents.map((content, at) => program.kubeconfig(`k${at}`, content))
    return loginWithKubeconfig(CONTEXT, { env: { KUBECONFIG: files.join(delimiter) } })
  }

  it('may have the current context in one and the rest in another', async () => {
    const info = await read(pick('current-context'), pick('contexts', 'clusters', 'users'))
    expect(info?.server).toBe('https://one')
  })

  it('may have contexts in one and clusters and users in another', async () => {
    const info = await read(pick('current-context', 'contexts'), pick('clusters', 'users'))
    expect(info?.login.connection.user.token?.expose()).toBe('one')
  })

  it('are merged so that the first entry of a name is used', async () => {
    const info = await read(whole, oneContext({ server: 'https://two' }, { token: 'two' }, 'two'))
    expect(info?.server).toBe('https://one')
    expect(info?.defaultNamespace).toBe('default')
    expect(info?.login.connection.user.token?.expose()).toBe('one')
  })
})

describe('options of loginWithKubeconfig()', () => {
  it('set priority and proxies, and everything that connect() takes', async () => {
    const kubeconfig = program.kubeconfig('k', oneContext({ server: 'https://one' }, {}))
    const options = {
      kubeconfig,
      env: {},
      trustEnv: false,
      priority: 7,
      token: 't',
      namespace: 'n',
    }
    const info = await loginWithKubeconfig(CONTEXT, options)
    expect(info?.login).toMatchObject({ trustEnv: false, priority: 7 })
    expect(info?.defaultNamespace).toBe('n')
    expect(info?.login.connection.user.token?.expose()).toBe('t')
  })

  it('respect an abort before and while the file is read', async () => {
    const kubeconfig = program.kubeconfig('k', oneContext({ server: 'https://one' }, {}))
    const controller = new AbortController()
    const { signal } = controller
    const login = loginWithKubeconfig({ signal }, { kubeconfig })
    controller.abort(new Error('enough'))
    await expect(login).rejects.toThrow('enough')
    await expect(loginWithKubeconfig({ signal }, { kubeconfig })).rejects.toThrow('enough')
  })
})

it('loginWithKubeconfig() logs in at a server', async () => {
  await using sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
  const user = await userOf(sandbox, (context) => loginWithKubeconfig(context, { kubeconfig }))
  expect(user).toBe('jane')
})
