import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type PluginCommand, type Sandbox, startSandbox } from '../../src/index.ts'
import { whoAmI } from '../client.ts'

const run = promisify(execFile)

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(async () => sandbox.close())

// The environment has nothing else: a plugin must not need PATH.
async function start({ command, args, env }: PluginCommand, apiVersion = 'v1') {
  const execInfo = {
    kind: 'ExecCredential',
    apiVersion: `client.authentication.k8s.io/${apiVersion}`,
  }
  return run(command, [...args], {
    env: { ...env, KUBERNETES_EXEC_INFO: JSON.stringify(execInfo) },
  })
}

it('a plugin prints a token that the server accepts', async () => {
  const plugin = await sandbox.plugin({ user: 'jane', groups: ['dev'], lifetimeMs: 60_000 })
  const { kind, status } = JSON.parse((await start(plugin)).stdout)
  expect(kind).toBe('ExecCredential')
  expect(Date.parse(status.expirationTimestamp)).toBeGreaterThan(Date.now())
  const answer = await whoAmI(sandbox, { token: status.token })
  expect(answer.json.status.userInfo.groups).toEqual(['dev', 'system:authenticated'])
})

it('a plugin prints a certificate that the server accepts', async () => {
  const plugin = await sandbox.plugin({ user: 'max', credential: 'certificate' })
  const { status } = JSON.parse((await start(plugin)).stdout)
  expect(status).not.toHaveProperty('token')
  const sent = { cert: status.clientCertificateData, key: status.clientKeyData }
  expect((await whoAmI(sandbox, sent)).json.status.userInfo.username).toBe('max')
})

it.each(['v1alpha1', 'v1beta1', 'v1'])(
  'a plugin answers in the requested version %s',
  async (version) => {
    const plugin = await sandbox.plugin({ user: 'jane', credential: 'both' })
    const { apiVersion, status } = JSON.parse((await start(plugin, version)).stdout)
    expect(apiVersion).toBe(`client.authentication.k8s.io/${version}`)
    expect(Object.keys(status).sort()).toEqual([
      'clientCertificateData',
      'clientKeyData',
      'expirationTimestamp',
      'token',
    ])
  },
)

it('runs are counted, and their exec info is recorded', async () => {
  const plugin = await sandbox.plugin({ user: 'jane' })
  await start(plugin)
  await start(plugin, 'v1beta1')
  expect(sandbox.pluginRuns).toBe(2)
  expect(sandbox.pluginExecInfos).toMatchObject([
    { apiVersion: 'client.authentication.k8s.io/v1' },
    { apiVersion: 'client.authentication.k8s.io/v1beta1' },
  ])
  sandbox.resetPluginRuns()
  expect([sandbox.pluginRuns, sandbox.pluginExecInfos]).toEqual([0, []])
})

it('a plugin can fail', async () => {
  const plugin = await sandbox.plugin({ user: 'jane', exitCode: 3, stderr: 'log in first\n' })
  const failed = { code: 3, stdout: '', stderr: 'log in first\n' }
  await expect(start(plugin)).rejects.toMatchObject(failed)
})

it('a plugin can print invalid output', async () => {
  const plugin = await sandbox.plugin({ user: 'jane', stdout: 'nonsense' })
  expect((await start(plugin)).stdout).toBe('nonsense')
})

it('the socket of plugins rejects requests without the secret', async () => {
  const plugin = await sandbox.plugin({ user: 'jane' })
  const env = { ...plugin.env, KUBECRED_SANDBOX_SECRET: 'guessed' }
  await expect(start({ ...plugin, env })).rejects.toMatchObject({ code: 1, stdout: '' })
  expect(sandbox.pluginRuns).toBe(0)
})

it('plugin files are private, and removed when the sandbox is closed', async () => {
  const { command, args } = await sandbox.plugin({ user: 'jane' })
  const file = args[0] ?? command
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o700)
  await sandbox.close()
  expect(existsSync(sandbox.folder)).toBe(false)
})

it('closing does not wait for a slow plugin', async () => {
  const plugin = await sandbox.plugin({ user: 'jane', delayMs: 3_600_000 })
  const slow = expect(start(plugin)).rejects.toMatchObject({ code: 1 })
  await expect.poll(() => sandbox.pluginRuns).toBe(1)
  await sandbox.close()
  await slow
})
