// After kopf's tests/authentication/test_login_serviceaccount.py, and what its authors left out.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '@kubecred/sandbox'
import { loginWithKubeconfig, loginWithServiceAccount } from 'kubecred/logins'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONTEXT, loggingContext, oneContext, ProgramFolder, userOf } from './scene.ts'

let program: ProgramFolder
beforeEach(() => {
  program = new ProgramFolder()
})
afterEach(() => program[Symbol.dispose]())

const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'

describe('the service account of a pod', () => {
  it('does not apply without a token, whatever else is there', async () => {
    const { folder } = program
    expect(await loginWithServiceAccount(CONTEXT, { folder, env: {} })).toBeUndefined()
    program.write('namespace', 'ns')
    program.write('ca.crt', PEM)
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' }
    expect(await loginWithServiceAccount(CONTEXT, { folder, env })).toBeUndefined()
  })

  it('with everything: values are trimmed, files stay files', async () => {
    const { folder } = program
    program.write('token', 's3cret-71c0\n')
    program.write('namespace', ' ns\n')
    program.write('ca.crt', PEM)
    const info = await loginWithServiceAccount(CONTEXT, { folder, env: {} })
    expect(info?.login).toMatchObject({
      priority: 20,
      trustEnv: true,
      connection: {
        namespace: 'ns',
        cluster: {
          server: 'https://kubernetes.default.svc',
          certificateAuthority: { from: 'file', path: join(folder, 'ca.crt') },
        },
        user: { tokenFile: join(folder, 'token') },
      },
    })
  })

  it('with only the token: the namespace is default, the CAs are those of the system, and that is logged', async () => {
    program.write('token', 's3cret-71c0')
    const context = loggingContext()
    const info = await loginWithServiceAccount(context, { folder: program.folder, env: {} })
    expect(info?.defaultNamespace).toBe('default')
    expect(info?.login.connection.cluster.certificateAuthority).toBeUndefined()
    expect(context.lines).toEqual([expect.stringContaining('the system roots are used')])
  })

  it('takes the server from the environment, if it has one', async () => {
    program.write('token', 'x')
    const { folder } = program
    const serverOf = async (env: Record<string, string>) =>
      (await loginWithServiceAccount(CONTEXT, { folder, env }))?.server
    const [host, port] = ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']
    expect(await serverOf({ [host]: '10.0.0.1', [port]: '6443' })).toBe('https://10.0.0.1:6443')
    expect(await serverOf({ [host]: 'fd00::1' })).toBe('https://[fd00::1]')
    expect(await serverOf({ [host]: '' })).toBe('https://kubernetes.default.svc')
  })

  it('takes a priority, and may ignore the proxies of the environment', async () => {
    program.write('token', 'x')
    const options = { folder: program.folder, env: {}, priority: 3, trustEnv: false }
    const info = await loginWithServiceAccount(CONTEXT, options)
    expect(info?.login).toMatchObject({ priority: 3, trustEnv: false })
  })

  it('respects an abort', async () => {
    const { folder } = program
    program.write('token', 'x')
    const controller = new AbortController()
    const login = loginWithServiceAccount({ signal: controller.signal }, { folder })
    controller.abort(new Error('enough'))
    await expect(login).rejects.toThrow('enough')
  })
})

it('a service account logs in at a server, and the next login does if none is mounted', async () => {
  await using sandbox = await startSandbox()
  const { folder } = program
  program.write('token', sandbox.issueToken({ user: 'pod' }).token)
  program.write('ca.crt', sandbox.caPem)
  const { token } = sandbox.issueToken({ user: 'jane' })
  const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
  const { hostname, port } = new URL(sandbox.url)
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const log = () =>
    userOf(
      sandbox,
      async (context) =>
        (await loginWithServiceAccount(context, { folder, env })) ??
        loginWithKubeconfig(context, { kubeconfig }),
    )
  expect(await log()).toBe('pod')
  rmSync(join(folder, 'token'))
  expect(await log()).toBe('jane')
})

it('a service account login does not read a kubeconfig', async () => {
  const KUBECONFIG = program.kubeconfig('k', oneContext({ server: 'https://one' }, {}))
  const env = { KUBECONFIG }
  expect(await loginWithServiceAccount(CONTEXT, { folder: program.folder, env })).toBeUndefined()
})
