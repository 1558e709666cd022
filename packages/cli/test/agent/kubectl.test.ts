import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, collect, TOKEN_PROGRAM } from '../token-program/agent-home.ts'

const KUBECTL = 'kubectl'
const hasKubectl = spawnSync(KUBECTL, ['version', '--client']).status === 0

let sandbox: Sandbox
let home: AgentHome
let kubeconfig: string

beforeEach(async () => {
  sandbox = await startSandbox()
  home = new AgentHome()
  const { command, env } = await sandbox.plugin({ user: 'jane', lifeMs: 3_600_000 })
  const exec = { command: TOKEN_PROGRAM, args: ['--', command], env: { ...env } }
  kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
})
afterEach(async () => {
  await home.close()
  await sandbox.close()
})

function start(...args: string[]): ChildProcess {
  return spawn(KUBECTL, ['--kubeconfig', kubeconfig, ...args], {
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
const kubectl = (...args: string[]) => collect(start(...args))

describe.skipIf(!hasKubectl)(
  'kubectl with kubecred-token in its kubeconfig (needs kubectl: apt-get install kubernetes-client)',
  () => {
    it('runs the plugin once for many calls, one after the other and at once', async () => {
      const first = await kubectl('get', 'namespaces', '-o', 'name')
      expect(first).toMatchObject({ status: 0, err: '' })
      expect(first.out).toContain('namespace/default')
      const many = await Promise.all(
        [1, 2, 3].map(() => kubectl('get', 'namespaces', '-o', 'name')),
      )
      expect(many.map(({ status }) => status)).toEqual([0, 0, 0])
      expect(sandbox.pluginRuns).toBe(1)
      expect(new Set(sandbox.requests.map(({ user }) => user))).toEqual(new Set(['jane']))
    })

    it('watches', async () => {
      const watching = start('get', 'namespaces', '-o', 'name', '--watch')
      let seen = ''
      watching.stdout?.on('data', (text) => {
        seen += text
      })
      while (!seen.includes('namespace/default')) await once(watching.stdout ?? watching, 'data')
      watching.kill('SIGINT')
      await once(watching, 'close')
      expect(sandbox.pluginRuns).toBe(1)
    })

    it('recovers after a revocation: one call may hear of it, the next has the new credential', async () => {
      expect((await kubectl('get', 'namespaces')).status).toBe(0)
      sandbox.revoke('jane')
      const heard = await kubectl('get', 'namespaces')
      const next = await kubectl('get', 'namespaces', '-o', 'name')
      expect(next).toMatchObject({ status: 0, err: '' })
      expect(sandbox.pluginRuns, heard.err).toBe(2)
    })

    it('shows why when the plugin fails', async () => {
      const broken = home.plugin('broken', 'echo "please log in with corp login" >&2; exit 3')
      const exec = { command: TOKEN_PROGRAM, args: ['--', broken] }
      kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
      const ended = await kubectl('get', 'namespaces')
      expect(ended.status).not.toBe(0)
      expect(ended.err).toContain('please log in with corp login')
      expect(ended.err).toContain('failed with exit code 3')
    })
  },
)
