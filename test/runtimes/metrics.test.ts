import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { createMetrics } from 'kubecred/metrics'
import { Registry } from 'prom-client'
import { expect, it } from './node-test.ts'

it('metrics count plugin runs, with the time until the certificate expires', async () => {
  await using sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const register = new Registry()
  const { observer } = await createMetrics({ register })
  await using cluster = await connect({ kubeconfig, observer })
  expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  sandbox.revokeCertificates('jane')
  expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  const text = await register.metrics()
  expect(text).toMatch(/^rest_client_exec_plugin_call_total\{.*no_error.*\} 2$/m)
  const [, seconds] = /^rest_client_exec_plugin_ttl_seconds (\d+)/m.exec(text) ?? []
  expect(Number(seconds)).toBeGreaterThan(3000)
})
