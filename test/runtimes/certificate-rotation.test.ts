import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { until } from '../../packages/core/test/transports/until.ts'
import { expect, it } from './node-test.ts'

it('a certificate of a plugin is replaced before it expires, and no request fails', async () => {
  await using sandbox = await startSandbox()
  const lifetimeMs = 6000
  const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate', lifetimeMs })
  await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
  const statuses = new Set<number>()
  await until(async () => {
    statuses.add((await cluster.fetch('/api/v1/namespaces')).status)
    return sandbox.pluginRuns > 2
  }, 4 * lifetimeMs)
  expect([...statuses]).toEqual([200])
  const users = new Set(sandbox.requests.map(({ certificateUser }) => certificateUser))
  expect([...users]).toEqual(['jane'])
  // A resumed session would still have the old certificate.
  expect(sandbox.requests.some(({ tlsSessionReused }) => tlsSessionReused)).toBe(false)
})
