import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, collect, type Ended, TOKEN_PROGRAM } from '../token-program/agent-home.ts'
import type { Kubectl } from './find-kubectl.ts'

/** What every kubectl must be able to do if its kubeconfig uses kubecred-token. */
export function kubectlSuite(title: string, found: Kubectl | undefined): void {
  describe.skipIf(found === undefined)(
    `${title} with kubecred-token in its kubeconfig${found === undefined ? '' : ` (${found.version})`}`,
    () => suite(found ?? { path: 'kubectl', version: 'none', apiVersion: 'none' }),
  )
}

function suite({ path, apiVersion }: Kubectl): void {
  let sandbox: Sandbox
  let home: AgentHome
  let kubeconfig: string

  beforeEach(async () => {
    sandbox = await startSandbox()
    home = new AgentHome()
    const { command, env } = await sandbox.plugin({ user: 'jane', lifetimeMs: 3_600_000 })
    useExec(command, { ...env })
  })
  afterEach(async () => {
    await home.close()
    await sandbox.close()
  })

  function useExec(plugin: string, env: Record<string, string> = {}): void {
    const exec = { command: TOKEN_PROGRAM, args: ['--', plugin], env, apiVersion }
    kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  }

  function start(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
    return spawn(path, ['--kubeconfig', kubeconfig, ...args], {
      env: { ...home.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
  const kubectl = (...args: string[]): Promise<Ended> => collect(start(args))
  const usersSeen = (): (string | undefined)[] => [
    ...new Set(sandbox.requests.map(({ user }) => user)),
  ]

  /** A plugin with the name of a known one, with a different token for each profile. */
  function useAws(...profiles: string[]): void {
    for (const profile of profiles) {
      const { token } = sandbox.issueToken({ user: profile })
      const status = { token, expirationTimestamp: '2099-01-01T00:00:00Z' }
      const answer = { kind: 'ExecCredential', apiVersion, status }
      writeFileSync(home.path(`answer-${profile}`), JSON.stringify(answer))
    }
    useExec(home.plugin('bin/aws', `cat "${home.folder}/answer-$AWS_PROFILE"`))
  }

  it('runs the plugin once for many calls, sequential and concurrent', async () => {
    const first = await kubectl('get', 'namespaces', '-o', 'name')
    expect(first).toMatchObject({ status: 0, err: '' })
    expect(first.out).toContain('namespace/default')
    const many = await Promise.all([1, 2, 3].map(() => kubectl('get', 'namespaces', '-o', 'name')))
    expect(many.map(({ status }) => status)).toEqual([0, 0, 0])
    expect(sandbox.pluginRuns).toBe(1)
    expect(usersSeen()).toEqual(['jane'])
  })

  it('watches', async () => {
    const watching = start(['get', 'namespaces', '-o', 'name', '--watch'])
    let seen = ''
    watching.stdout?.on('data', (text) => {
      seen += text
    })
    while (!seen.includes('namespace/default')) await once(watching.stdout ?? watching, 'data')
    watching.kill('SIGINT')
    await once(watching, 'close')
    expect(sandbox.pluginRuns).toBe(1)
  })

  it('applies: creates, changes and leaves unchanged', async () => {
    const file = home.path('colour.json')
    const apply = async (colour: string): Promise<string> => {
      const metadata = { name: 'colour', namespace: 'default' }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { colour } }
      writeFileSync(file, JSON.stringify(object))
      const ended = await kubectl('apply', '--validate=false', '-f', file)
      expect(ended).toMatchObject({ status: 0, err: '' })
      return ended.out.trim()
    }
    expect(await apply('red')).toBe('configmap/colour created')
    expect(await apply('blue')).toBe('configmap/colour configured')
    expect(await apply('blue')).toBe('configmap/colour unchanged')
    const read = await kubectl('get', 'configmap', 'colour', '-o', 'jsonpath={.data.colour}')
    expect(read.out).toBe('blue')
    expect(sandbox.pluginRuns).toBe(1)
    expect(usersSeen()).toEqual(['jane'])
  })

  it('recovers after a revocation: one call may fail, the next has the new credential', async () => {
    expect((await kubectl('get', 'namespaces')).status).toBe(0)
    sandbox.revoke('jane')
    const heard = await kubectl('get', 'namespaces')
    const next = await kubectl('get', 'namespaces', '-o', 'name')
    expect(next).toMatchObject({ status: 0, err: '' })
    expect(sandbox.pluginRuns, heard.err).toBe(2)
  })

  it('is two users in two shells with different AWS_PROFILE, concurrently and sequentially', async () => {
    useAws('jane', 'joe')
    const as = async (profile: string): Promise<string | undefined> => {
      const ended = await collect(
        start(['get', '--raw', `/api/v1/namespaces/default?from=${profile}`], {
          AWS_PROFILE: profile,
        }),
      )
      expect(ended).toMatchObject({ status: 0, err: '' })
      return sandbox.requests.findLast(({ path: asked }) => asked.endsWith(`from=${profile}`))?.user
    }
    expect(await Promise.all([as('jane'), as('joe')])).toEqual(['jane', 'joe'])
    expect([await as('joe'), await as('jane')]).toEqual(['joe', 'jane'])
    expect(home.runs).toBe(2)
  })

  it('notices another login when the account file changes', async () => {
    useAws('jane')
    const accounts = home.path('home', '.aws')
    mkdirSync(accounts)
    const ask = (): Promise<Ended> =>
      collect(start(['get', '--raw', '/api/v1/namespaces/default'], { AWS_PROFILE: 'jane' }))
    for (const [key, runs] of [
      ['first', 1],
      ['first', 1],
      ['another', 2],
    ] as const) {
      if (home.runs < runs) writeFileSync(`${accounts}/credentials`, `key = ${key}\n`)
      expect(await ask()).toMatchObject({ status: 0, err: '' })
      expect(home.runs).toBe(runs)
    }
  })

  it('shows why the plugin failed', async () => {
    useExec(home.plugin('broken', 'echo "please log in with corp login" >&2; exit 3'))
    const ended = await kubectl('get', 'namespaces')
    expect(ended.status).not.toBe(0)
    expect(ended.err).toContain('please log in with corp login')
    expect(ended.err).toContain('failed with exit code 3')
  })
}
