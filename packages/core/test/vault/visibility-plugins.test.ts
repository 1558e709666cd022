import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { loginWithKubeconfig } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { linesOf, makeMetrics } from '../metrics/scene.ts'

let sandbox: Sandbox
let events: CredentialEvent[]
beforeEach(async () => {
  sandbox = await startSandbox()
  events = []
})
afterEach(() => sandbox.close())

const observer = (event: CredentialEvent): void => void events.push(event)
const of = (kind: string) => events.filter(({ source }) => source.kind === kind)
const typesOf = (kind: string) => of(kind).map(({ type }) => type)
const PATH = '/api/v1/namespaces'

/** A vault whose only login runs a plugin. */
async function vaultWithPlugin(options: Parameters<Sandbox['plugin']>[0], freezeLimitMs = 60_000) {
  const exec = await sandbox.plugin(options)
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const env = { HOME: sandbox.folder, PATH: process.env['PATH'] }
  const vault = new Vault({ freezeLimitMs }).onLogin(
    (context) => loginWithKubeconfig(context, { kubeconfig, env }),
    { id: 'file' },
  )
  return { vault, exec, kubeconfig }
}

describe('a plugin that a login runs', () => {
  it('is reported from its start to its end, and so is its login', async () => {
    const { vault, exec } = await vaultWithPlugin({ user: 'jane', stderr: 'touch the key\n' })
    const cluster = await connect({ vault, observer })
    expect((await cluster.fetch(PATH)).status).toBe(200)
    expect(typesOf('exec')).toEqual([
      'attached',
      'run-started',
      'policy',
      'plugin-started',
      'plugin-stderr',
      'plugin-ended',
      'run-succeeded',
    ])
    expect(new Set(of('exec').map(({ source }) => source.name))).toEqual(new Set([exec.command]))
    expect(typesOf('login')).toEqual(['attached', 'run-started', 'logged-in', 'run-succeeded'])
    expect(of('login').at(2)).toMatchObject({ server: sandbox.url, parts: ['token'] })
    sandbox.revoke('jane')
    expect((await cluster.fetch(PATH)).status).toBe(200)
    // The refusal belongs to the login: it must not be counted twice.
    expect(events.filter(({ type }) => type === 'refused')).toMatchObject([
      { source: { kind: 'login', name: 'file' }, status: 401, server: sandbox.url },
    ])
    expect(typesOf('exec').filter((type) => type === 'attached' || type === 'detached')).toEqual([
      'attached',
    ])
    await cluster.close()
    expect(typesOf('exec').at(-1)).toBe('detached')
  })

  it('is counted once, even if a connection without a vault shares it and both are observed', async () => {
    const metrics = await makeMetrics()
    const { vault, kubeconfig } = await vaultWithPlugin({ user: 'jane' })
    const env = { HOME: sandbox.folder, PATH: process.env['PATH'] }
    await using cluster = await connect({ vault, env, observer: metrics.observer })
    await using plain = await connect({ kubeconfig, env, observer: metrics.observer })
    expect((await cluster.fetch(PATH)).status).toBe(200)
    expect((await plain.fetch(PATH)).status).toBe(200)
    expect(sandbox.pluginRuns).toBe(1)
    const text = await metrics.register.metrics()
    const CALLS = 'rest_client_exec_plugin_call_total'
    expect(linesOf(text, CALLS)).toEqual([`${CALLS}{code="0",call_status="no_error"} 1`])
    expect(linesOf(text, 'kubecred_refresh_total')).toEqual([
      'kubecred_refresh_total{reason="first",source="exec",outcome="new"} 1',
      'kubecred_refresh_total{reason="first",source="login",outcome="new"} 1',
    ])
  })

  it('is reported with its own error if it fails, and waiting requests keep waiting', async () => {
    const { vault } = await vaultWithPlugin({ user: 'jane', exitCode: 3 }, 1500)
    const failure = await connect({ vault, observer }).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      code: 'ERR_LOGIN_FAILED',
      outcomes: [{ handler: 'file', result: 'failed', reason: expect.stringContaining('3') }],
    })
    expect(of('exec')).toContainEqual(
      expect.objectContaining({
        type: 'run-failed',
        error: expect.objectContaining({ code: 'ERR_PLUGIN_EXITED' }),
        process: expect.objectContaining({ exitStatus: 3 }),
      }),
    )
    // Each request waits once for each login, not also for the plugin in it.
    const order = events.map(({ type, source }) => `${source.kind} ${type}`)
    const failed = order.indexOf('exec run-failed')
    expect(order.indexOf('login run-failed')).toBeGreaterThan(failed)
    expect(order.filter((each) => each === 'vault frozen')).toHaveLength(1)
    expect(order.filter((each) => each === 'vault failed')).toHaveLength(1)
  })
})

it('reading the files of a login is not reported as a separate event', async () => {
  const { token } = sandbox.issueToken({ user: 'jane' })
  const vault = new Vault().onLogin(
    () => ({ server: sandbox.url, caData: sandbox.caPem, token, username: 'j', password: 'p' }),
    { id: 'both' },
  )
  await using cluster = await connect({ vault, observer })
  expect((await cluster.fetch(PATH)).status).toBe(200)
  expect(new Set(events.map(({ source }) => source.kind))).toEqual(new Set(['vault', 'login']))
  // But what is odd about it is said.
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'warning', message: expect.stringContaining('token is used') }),
  )
})
