import { createMetrics, type Metrics } from 'kubecred/metrics'
import { AggregatorRegistry, type OpenMetricsContentType, Registry, register } from 'prom-client'
import { afterEach, describe, expect, it } from 'vitest'
import { PeerMissingError, PluginExitedError } from '../../src/errors/index.ts'
import { loadPromClient } from '../../src/metrics/create-metrics.ts'
import type { SourceLabel } from '../../src/ports/observer.ts'
import { makeMetrics } from './scene.ts'

const source: SourceLabel = { kind: 'exec', name: 'plugin' }

/** Causes every kind of event that is counted. */
function keepBusy({ observer }: Pick<Metrics, 'observer'>): void {
  const certificate = { notBefore: 3_600_000, notAfter: 9_000_000 }
  const process = { isStarted: true, exitStatus: 0, tookMs: 340 }
  const run = { source, reason: 'refused', tookMs: 350 } as const
  observer({ type: 'attached', source })
  observer({ type: 'policy', source, verdict: 'allowed', command: 'plugin' })
  observer({
    ...run,
    type: 'run-succeeded',
    isSame: false,
    expiresAt: undefined,
    parts: ['certificate'],
    process,
    certificate,
    replaced: { notBefore: 0, notAfter: 1 },
  })
  observer({
    ...run,
    type: 'run-failed',
    error: new PluginExitedError('plugin', 3),
    nextTryAt: 0,
    process: { ...process, exitStatus: 3 },
  })
  observer({ type: 'refused', source, status: 401 })
  observer({ type: 'retried', source, method: 'GET', path: '/' })
}

const clock = { now: () => 7_200_000 }

afterEach(() => register.clear())

describe('the registry', () => {
  it('is the one passed as an option', async () => {
    const own = new Registry()
    const metrics = await createMetrics({ register: own })
    expect(metrics.register).toBe(own)
    expect(register.getMetricsAsArray()).toEqual([])
  })

  it('is the global one of prom-client by default', async () => {
    const metrics = await createMetrics()
    expect(metrics.register).toBe(register)
    metrics.observer({ type: 'retried', source, method: 'GET', path: '/' })
    expect(await register.metrics()).toContain('\nkubecred_retried_total 1\n')
  })

  it('accepts the metrics only once', async () => {
    const own = new Registry()
    await createMetrics({ register: own })
    await expect(createMetrics({ register: own })).rejects.toThrow('already been registered')
  })

  it('shows counters in OpenMetrics under the same names', async () => {
    const own = new Registry<OpenMetricsContentType>()
    own.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    keepBusy(await createMetrics({ register: own }))
    await own.metrics()
    const text = await own.metrics()
    expect(text).toContain('\nkubecred_retried_total 1\n')
    expect(text).toContain('# TYPE kubecred_retried counter\n')
    expect(text).toContain('\nkubecred_exec_plugin_run_duration_seconds_count 2\n')
    expect(text.endsWith('# EOF\n')).toBe(true)
  })

  it('can add labels and be reset; sources in use stay in use', async () => {
    const metrics = await makeMetrics(clock)
    keepBusy(metrics)
    metrics.register.setDefaultLabels({ app: 'mine' })
    expect(await metrics.register.metrics()).toContain(
      'kubecred_refused_total{status="401",app="mine"} 1\n',
    )
    metrics.register.setDefaultLabels({})
    metrics.register.resetMetrics()
    const text = await metrics.register.metrics()
    expect(text).toContain('\nkubecred_retried_total 0\n')
    expect(text).not.toContain('kubecred_refused_total{')
    expect(text).toContain('\nrest_client_exec_plugin_ttl_seconds 1800\n')
    expect(text).toContain('\nkubecred_certificate_ttl_seconds{source="exec"} 1800\n')
  })

  it('can be aggregated over workers: counters are summed, the shortest time to live counts', async () => {
    const workers = await Promise.all([makeMetrics(clock), makeMetrics(clock)])
    for (const metrics of workers) keepBusy(metrics)
    workers[1]?.observer({
      type: 'attached',
      source: { ...source },
      certificate: { notBefore: 0, notAfter: 7_260_000 },
    })
    const shown = await Promise.all(workers.map(({ register }) => register.getMetricsAsJSON()))
    const text = await AggregatorRegistry.aggregate(shown).metrics()
    expect(text).toContain('\nkubecred_retried_total 2\n')
    expect(text).toContain('rest_client_exec_plugin_ttl_seconds 60\n')
    expect(text).toContain('\nkubecred_certificate_ttl_seconds{source="exec"} 60\n')
  })
})

describe('without prom-client', () => {
  it('an error says what to install', async () => {
    const missing = Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' })
    const failure = await loadPromClient(() => Promise.reject(missing)).catch((error) => error)
    expect(failure).toBeInstanceOf(PeerMissingError)
    expect(failure).toMatchObject({
      peer: 'prom-client',
      message: 'kubecred/metrics needs the package prom-client, which is not installed',
      hint: 'Run "npm install prom-client".',
    })
  })

  it('any other error while loading it is rethrown', async () => {
    const broken = new Error('broken')
    await expect(loadPromClient(() => Promise.reject(broken))).rejects.toBe(broken)
  })
})
