import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type PluginCommand, type PluginOptions, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { describe, expect, it } from './node-test.ts'

/** Starts a plugin as a kubeconfig would. The environment has nothing else: it must not need PATH. */
function start({ command, args, env }: PluginCommand): Promise<{ stdout: string }> {
  return promisify(execFile)(command, [...args], { env: { ...env } })
}

async function run(options: PluginOptions) {
  await using sandbox = await startSandbox()
  const ended = await start(await sandbox.plugin(options)).catch((error: unknown) => error)
  return { ...(ended as { stdout: string; stderr: string; code?: number }), ...sandbox }
}

describe('a plugin of the sandbox', () => {
  it('prints a credential', async () => {
    const { stdout, pluginRuns } = await run({ user: 'jane', credential: 'both' })
    const { kind, status } = JSON.parse(stdout)
    expect(kind).toBe('ExecCredential')
    expect(Object.keys(status).length).toBe(4)
    expect(pluginRuns).toBe(1)
  })

  it('can fail', async () => {
    const ended = await run({ user: 'jane', exitCode: 3, stderr: 'log in first\n' })
    expect(ended).toMatchObject({ code: 3, stdout: '', stderr: 'log in first\n' })
  })
})

describe('a sandbox', () => {
  it('knows a user by certificate, and by token over plain HTTP', async () => {
    await using sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(sandbox.requests).toMatchObject([{ certificateUser: 'jane', status: 200 }])

    await using plain = await startSandbox({ http: true })
    const { token } = plain.issueToken({ user: 'ann' })
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${plain.url}/api/v1/namespaces`, { headers })).status).toBe(200)
    expect(plain.requests).toMatchObject([{ user: 'ann', status: 200 }])
  })
})
