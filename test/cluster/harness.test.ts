import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

const cluster = new TestCluster(inject('cluster'))
const START = fileURLToPath(new URL('../../tools/cluster/start.mjs', import.meta.url))

describe('the cluster', () => {
  it('is real, and kubectl of the same version works with it', () => {
    const { kubectl } = cluster.facts.programs
    const { stdout, status } = spawnSync(
      kubectl,
      ['--kubeconfig', cluster.facts.kubeconfig, 'version', '-o', 'json'],
      { encoding: 'utf8' },
    )
    expect(status).toBe(0)
    const { clientVersion, serverVersion } = JSON.parse(stdout)
    expect(serverVersion.gitVersion).toMatch(/^v1\.\d+\.\d+/)
    expect(clientVersion.gitVersion).toMatch(/^v1\.\d+\.\d+/)
  })

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'of a process that gets %s leaves nothing behind',
    async (signal) => {
      const child = spawn(process.execPath, [START], { stdio: ['ignore', 'pipe', 'inherit'] })
      const [line] = await new Promise<string[]>((resolve, reject) => {
        createInterface({ input: child.stdout }).once('line', (text) => resolve([text]))
        child.once('exit', (status) => reject(new Error(`ended with ${status}`)))
      })
      const { folder } = JSON.parse(line ?? '') as { folder: string }
      expect(processesOf(folder).length).toBeGreaterThanOrEqual(3)
      child.kill(signal)
      await until(() => processesOf(folder).length === 0 && !existsSync(folder))
    },
  )
})

/** Lists the processes with the folder in their command line, including the watchdog. */
function processesOf(folder: string): string[] {
  const { stdout } = spawnSync('pgrep', ['-f', folder], { encoding: 'utf8' })
  return stdout.split('\n').filter((pid) => pid !== '')
}
