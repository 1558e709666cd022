import type { CredentialEvent, Observer } from 'kubecred'
import { combineObservers, type Metrics } from 'kubecred/metrics'
import { describe, expect, it } from 'vitest'
import { linesOf, makeMetrics, openScene, request } from './scene.ts'

const CALLS = 'rest_client_exec_plugin_call_total'
const TTL = 'rest_client_exec_plugin_ttl_seconds'
const HOUR_MS = 3_600_000

const WAYS: readonly { name: string; observerOf: (metrics: Metrics) => Observer }[] = [
  { name: 'the observer itself', observerOf: (metrics) => metrics.observer },
  {
    name: 'combineObservers()',
    observerOf: (metrics) => combineObservers(metrics.observer, () => {}),
  },
  { name: 'a function', observerOf: (metrics) => (event) => metrics.observer(event) },
]

describe.each(WAYS)(
  'two connections that share a keeper, observed through $name',
  ({ observerOf }) => {
    it('count each event once', async () => {
      await using scene = await openScene()
      const metrics = await makeMetrics()
      const plugin = await scene.plugin()
      const first = await scene.connect(plugin, { observer: observerOf(metrics) })
      const second = await scene.connect(plugin, { observer: observerOf(metrics) })
      expect([await request(first), await request(second)]).toEqual([200, 200])
      scene.sandbox.revoke('jane')
      expect([await request(first), await request(second)]).toEqual([200, 200])
      expect(scene.sandbox.pluginRuns).toBe(2)
      expect(linesOf(await metrics.register.metrics(), CALLS)).toEqual([
        `${CALLS}{code="0",call_status="no_error"} 2`,
      ])
      const counted = linesOf(await metrics.register.metrics(), 'kubecred_').filter(
        (line) => !line.endsWith(' 0'),
      )
      expect(counted).toEqual([
        expect.stringMatching(/_run_duration_seconds_sum /),
        'kubecred_exec_plugin_run_duration_seconds_count 2',
        'kubecred_refresh_total{reason="first",source="exec",outcome="new"} 1',
        'kubecred_refresh_total{reason="refused",source="exec",outcome="new"} 1',
        'kubecred_refused_total{status="401"} 1',
        'kubecred_retried_total 1',
      ])
    })

    it('no longer affect the time to live or the counters after the last one has closed', async () => {
      await using scene = await openScene()
      const metrics = await makeMetrics({ now: () => scene.now })
      const plugin = await scene.plugin({
        stdout: await scene.certificate({ notBeforeMs: 0, notAfterMs: HOUR_MS }),
      })
      const first = await scene.connect(plugin, { observer: observerOf(metrics) })
      const second = await scene.connect(plugin, { observer: observerOf(metrics) })
      expect(await request(first)).toBe(200)
      expect(linesOf(await metrics.register.metrics(), TTL)).toEqual([`${TTL} 3600`])
      await first.close()
      expect(linesOf(await metrics.register.metrics(), TTL)).toEqual([`${TTL} 3600`])
      scene.sandbox.revokeCertificates('jane')
      plugin.script.stdout = await scene.certificate({ notBeforeMs: 0, notAfterMs: 2 * HOUR_MS })
      expect(await request(second)).toBe(200)
      expect(linesOf(await metrics.register.metrics(), TTL)).toEqual([`${TTL} 7200`])
      await second.close()
      expect(linesOf(await metrics.register.metrics(), TTL)).toEqual([`${TTL} +Inf`])
      expect(linesOf(await metrics.register.metrics(), CALLS)).toEqual([
        `${CALLS}{code="0",call_status="no_error"} 2`,
      ])
    })
  },
)

it('an observer that is added later knows the certificate in use', async () => {
  await using scene = await openScene()
  const plugin = await scene.plugin({
    stdout: await scene.certificate({ notBeforeMs: 0, notAfterMs: HOUR_MS }),
  })
  expect(await request(await scene.connect(plugin))).toBe(200)
  const metrics = await makeMetrics({ now: () => scene.now })
  await scene.connect(plugin, { observer: metrics.observer })
  expect(linesOf(await metrics.register.metrics(), TTL)).toEqual([`${TTL} 3600`])
  expect(linesOf(await metrics.register.metrics(), CALLS)).toEqual([])
})

it('a connection without the observer does not keep a certificate in the time to live', async () => {
  await using scene = await openScene()
  const plugin = await scene.plugin({
    stdout: await scene.certificate({ notBeforeMs: 0, notAfterMs: HOUR_MS }),
  })
  const metrics = await makeMetrics({ now: () => scene.now })
  const ours = await scene.connect(plugin, { observer: metrics.observer })
  await scene.connect(plugin, { observer: () => {} })
  expect(await request(ours)).toBe(200)
  await ours.close()
  expect(linesOf(await metrics.register.metrics(), TTL)).toEqual([`${TTL} +Inf`])
})

it('events contain the outcome of the process and the validity of certificates, and nothing else', async () => {
  await using scene = await openScene()
  const events: CredentialEvent[] = []
  const first = { notBeforeMs: -HOUR_MS, notAfterMs: HOUR_MS }
  const plugin = await scene.plugin({ stdout: await scene.certificate(first) })
  const cluster = await scene.connect(plugin, { observer: (event) => events.push(event) })
  expect(await request(cluster)).toBe(200)
  scene.sandbox.revokeCertificates('jane')
  const second = { notBeforeMs: 0, notAfterMs: 2 * HOUR_MS }
  plugin.script.stdout = await scene.certificate(second)
  expect(await request(cluster)).toBe(200)
  await cluster.close()
  const validity = ({ notBeforeMs, notAfterMs }: typeof first) => ({
    notBefore: scene.now + notBeforeMs,
    notAfter: scene.now + notAfterMs,
  })
  const process = { isStarted: true, exitStatus: 0, tookMs: expect.any(Number) }
  const runs = events.filter(({ type }) => type === 'run-succeeded')
  expect(runs[0]).toMatchObject({ process, certificate: validity(first) })
  expect(runs[0]).not.toHaveProperty('replaced')
  expect(runs[1]).toMatchObject({
    process,
    certificate: validity(second),
    replaced: validity(first),
  })
  expect([events[0]?.type, events.at(-1)?.type]).toEqual(['attached', 'detached'])
  expect(JSON.stringify(events)).not.toMatch(/CERTIFICATE|PRIVATE/)
})

it('receiving the same certificate again is not a rotation', async () => {
  await using scene = await openScene()
  const metrics = await makeMetrics({ now: () => scene.now })
  const plugin = await scene.plugin({
    stdout: await scene.certificate({ notBeforeMs: -HOUR_MS, notAfterMs: HOUR_MS }),
  })
  const cluster = await scene.connect(plugin, { observer: metrics.observer })
  expect(await request(cluster)).toBe(200)
  scene.sandbox.revokeCertificates('jane')
  expect(await request(cluster)).toBe(401)
  const text = await metrics.register.metrics()
  expect(text).toContain('{reason="refused",source="exec",outcome="same"} 1')
  expect(text).toContain('rest_client_exec_plugin_certificate_rotation_age_count 0')
})
