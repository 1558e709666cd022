import { readFileSync } from 'node:fs'
import { connect } from 'kubecred'
import { createMetrics } from 'kubecred/metrics'
import { Vault } from 'kubecred/vault'
import { Registry } from 'prom-client'
import { describe, expect, inject, it } from 'vitest'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

const cluster = new TestCluster(inject('cluster'))

/** Parses Prometheus text into samples by name and labels. */
function read(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1).replace('Inf', 'Infinity'))]
    }),
  )
}

describe('the metrics with a real API server', () => {
  it('count runs, refusals and certificates of a plugin', async () => {
    const metrics = await createMetrics({ register: new Registry() })
    const user = cluster.unique('counted')
    const pair = await cluster.certificate({ user, lifetimeMs: 3_600_000 })
    const bad = { token: 'unknown-token' }
    const good = { clientCertificateData: pair.certificate, clientKeyData: pair.key }
    const plugin = cluster.plugin().answerOnce(1, bad).answer(good)
    const kubeconfig = cluster.kubeconfig({ user: { exec: plugin.exec } })
    const ours = await connect({ kubeconfig, observer: metrics.observer })
    for (let asked = 0; asked < 10; asked += 1) {
      const answer = await ours.fetch('/api/v1/namespaces')
      await answer.arrayBuffer()
      expect(answer.status).toBe(200)
    }
    const seen = read(await metrics.register.metrics())
    const call = 'rest_client_exec_plugin_call_total{code="0",call_status="no_error"}'
    expect(seen.get(call)).toBe(2)
    expect(seen.get('kubecred_refused_total{status="401"}')).toBe(1)
    expect(seen.get('kubecred_retried_total')).toBe(1)
    const left = seen.get('rest_client_exec_plugin_ttl_seconds') ?? 0
    expect(left).toBeGreaterThan(3000)
    // X.509 has whole seconds.
    expect(left).toBeLessThanOrEqual(3601)
    const started = 'kubecred_exec_plugin_run_duration_seconds_count'
    expect(seen.get(started)).toBe(2)
    await ours.close()
  })

  it('count logins of a vault, and requests that had to wait', async () => {
    const metrics = await createMetrics({ register: new Registry() })
    const user = cluster.unique('logged-in')
    const { server, caPem } = cluster.facts.access
    let isDown = true
    const vault = new Vault()
    vault.onLogin(
      () => {
        if (isDown) throw new Error('not now')
        return { server, caData: caPem, token: cluster.token({ user }).token }
      },
      { id: 'corp', backoffMs: 200 },
    )
    const opening = connect({ vault, observer: metrics.observer })
    const retried = 'kubecred_login_retried_total{handler="corp"}'
    await until(async () => (read(await metrics.register.metrics()).get(retried) ?? 0) > 0)
    isDown = false
    const ours = await opening
    expect((await ours.fetch('/api/v1/namespaces')).status).toBe(200)
    const seen = read(await metrics.register.metrics())
    expect(seen.get('kubecred_login_total{handler="corp",outcome="new"}') ?? 0).toBe(1)
    expect(seen.get('kubecred_vault_frozen')).toBe(0)
    expect(seen.get('kubecred_vault_waiting_requests')).toBe(0)
    await ours.close()
  })

  it('include every metric of the documentation', async () => {
    const metrics = await createMetrics({ register: new Registry() })
    await using _ = await connect({
      kubeconfig: cluster.kubeconfig({ user: { exec: cluster.plugin().exec } }),
      observer: metrics.observer,
    })
    const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
    const named = [...page.matchAll(/^\| `((?:rest_client|kubecred)_\w+)`/gm)].map(
      ([, name]) => name,
    )
    expect(named.length).toBeGreaterThan(15)
    const registered = new Set(metrics.register.getMetricsAsArray().map(({ name }) => name))
    expect(named.filter((name) => !registered.has(name ?? ''))).toEqual([])
  })
})
