import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, answers, execInfo, TOKEN_PROGRAM } from '../token-program/agent-home.ts'

let home: AgentHome

beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.close())

const CLUSTER = { server: 'https://127.0.0.1:1', config: null }

/** A kubeconfig with one context, and how its client would start kubecred-token. */
function setUp(script: string): { kubeconfig: string; ask: () => Promise<unknown> } {
  const plugin = home.plugin('p', script)
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: TOKEN_PROGRAM,
    args: ['--depends-on', home.path('account'), '--', plugin],
    env: [{ name: 'CORP', value: 'x' }],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: true,
  }
  const kubeconfig = home.path('config')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'c',
      clusters: [{ name: 'k', cluster: { server: CLUSTER.server } }],
      users: [{ name: 'u', user: { exec } }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    }),
  )
  const info = execInfo(false, { cluster: CLUSTER })
  const env = { CORP: 'x', KUBERNETES_EXEC_INFO: info }
  return { kubeconfig, ask: () => home.token(exec.args, env) }
}

async function statusOf(kubeconfig: string): Promise<unknown> {
  const { out } = await home.program(['status', '-o', 'json', '--kubeconfig', kubeconfig])
  return JSON.parse(out).contexts[0]
}

describe('kubecred status', () => {
  it('shows what the agent knows, and runs no plugin', async () => {
    const { kubeconfig, ask } = setUp(answers())
    expect(await statusOf(kubeconfig)).toMatchObject({ state: 'unknown' })
    expect(await home.status()).toBeUndefined()
    await ask()
    expect(await statusOf(kubeconfig)).toMatchObject({
      state: 'valid',
      expiresAt: Date.parse('2099-01-01T00:00:00Z'),
      ranAt: expect.any(Number),
      tookMs: expect.any(Number),
    })
    expect(home.runs).toBe(1)
  })

  it('shows why the plugin failed, and nothing about another account', async () => {
    const { kubeconfig, ask } = setUp('echo no >&2; exit 4')
    await ask()
    expect(await statusOf(kubeconfig)).toMatchObject({
      state: 'invalid',
      problem: { message: expect.stringContaining('exit code 4') },
    })
    writeFileSync(home.path('account'), 'another')
    expect(await statusOf(kubeconfig)).toMatchObject({ state: 'unknown' })
    expect(home.runs).toBe(1)
  })
})

it('both say which login a plugin needs', async () => {
  const { kubeconfig, ask } = setUp('echo "Expired. Run: corp login --sso" >&2; exit 4')
  await ask()
  const { out } = await home.program(['status', '--kubeconfig', kubeconfig])
  expect(out).toMatch(/ needs a login: run corp login --sso$/m)
  const agent = await home.program(['agent', 'status'])
  expect(agent.out).toContain(', needs a login: run corp login --sso, ')
})

describe('kubecred agent', () => {
  it('starts, shows, empties, locks, unlocks and stops the agent', async () => {
    const plugin = home.plugin('p', answers())
    const agent = async (action: string): Promise<string> => {
      const { status, out, err } = await home.program(['agent', action])
      expect(status).toBe(0)
      return out + err
    }
    expect(await agent('status')).toContain('No agent is running.')
    expect(await agent('stop')).toContain('No agent is running.')
    expect(await agent('start')).toContain(home.paths.socket)
    await home.token(['--', plugin, '--secret', 'marked'])
    expect(await agent('status')).toMatch(/p --secret …: expires in \d+ days, last run .* ago/)
    await agent('forget')
    expect(await agent('status')).toContain('It keeps no credentials.')
    await agent('lock')
    const locked = await home.token(['--', plugin])
    expect(locked).toMatchObject({ status: 94, out: '' })
    expect(locked.err).toContain('kubecred agent start')
    expect(await agent('status')).toContain('locked')
    await agent('start')
    expect(await home.token(['--', plugin])).toMatchObject({ status: 0 })
    await agent('stop')
    expect(await agent('status')).toContain('No agent is running.')
    expect((await home.program(['agent', 'dance'])).status).toBe(2)
  })
})
