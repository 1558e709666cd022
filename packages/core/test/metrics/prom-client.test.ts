import { createMetrics, type Metrics } from 'kubecred/metrics'
import { type OpenMetricsContentType, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { PluginExitedError } from '../../src/errors/index.ts'
import type { SourceLabel } from '../../src/ports/observer.ts'

const source: SourceLabel = { kind: 'exec', name: 'plugin' }

/** A collector that has seen something of everything. */
function busyMetrics(): Metrics {
  const metrics = createMetrics({ clock: { now: () => 7_200_000 } })
  const certificate = { notBefore: 3_600_000, notAfter: 9_000_000 }
  const process = { isStarted: true, exitStatus: 0, tookMs: 340 }
  const run = { source, reason: 'refused', tookMs: 350 } as const
  metrics.observer({ type: 'borrowed', source })
  metrics.observer({ type: 'policy', source, verdict: 'allowed', command: 'plugin' })
  metrics.observer({
    ...run,
    type: 'run-succeeded',
    isSame: false,
    expiresAt: undefined,
    holds: ['certificate'],
    process,
    certificate,
    replaced: { notBefore: 0, notAfter: 1 },
  })
  metrics.observer({
    ...run,
    type: 'run-failed',
    error: new PluginExitedError('plugin', 3),
    nextTryAt: 0,
    process: { ...process, exitStatus: 3 },
  })
  metrics.observer({ type: 'refused', source, status: 401 })
  metrics.observer({ type: 'retried', source, method: 'GET', path: '/' })
  return metrics
}

/** A scrape as a parser sees it: types, help texts and values by name and labels. */
function parse(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '')
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, splitAt(line)), line.slice(splitAt(line) + 1)]),
  )
}

function splitAt(line: string): number {
  return line.startsWith('# ') ? line.indexOf(' ', '# HELP '.length) : line.lastIndexOf(' ')
}

describe('a registry of prom-client', () => {
  it('shows what we show, now and after the next event', async () => {
    const metrics = busyMetrics()
    const registry = new Registry()
    metrics.register(registry)
    expect(parse(await registry.metrics())).toEqual(parse(metrics.text()))
    metrics.observer({ type: 'retried', source, method: 'GET', path: '/' })
    metrics.observer({ type: 'released', source })
    const later = parse(await registry.metrics())
    expect(later).toEqual(parse(metrics.text()))
    expect(later['kubecred_retried_total']).toBe('2')
    expect(later['rest_client_exec_plugin_ttl_seconds']).toBe('+Inf')
  })

  it('shows counters in OpenMetrics under the same names', async () => {
    const metrics = busyMetrics()
    const registry = new Registry<OpenMetricsContentType>()
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    metrics.register(registry)
    await registry.metrics()
    const text = await registry.metrics()
    expect(text).toContain('\nkubecred_retried_total 1\n')
    expect(text).toContain('# TYPE kubecred_retried counter\n')
    expect(text).toContain('\nkubecred_exec_plugin_run_duration_seconds_count 2\n')
    expect(text.endsWith('# EOF\n')).toBe(true)
  })

  it('can add labels, give JSON and start again', async () => {
    const metrics = busyMetrics()
    const registry = new Registry()
    metrics.register(registry)
    registry.setDefaultLabels({ app: 'mine' })
    expect(await registry.metrics()).toContain(
      'kubecred_refused_total{status="401",app="mine"} 1\n',
    )
    expect(await registry.getMetricsAsJSON()).toHaveLength(metrics.values().length)
    registry.resetMetrics()
    expect(metrics.text()).toContain('\nkubecred_retried_total 0\n')
    expect(metrics.text()).not.toContain('kubecred_refused_total{')
  })

  it('takes one collector only', () => {
    const registry = new Registry()
    createMetrics().register(registry)
    expect(() => createMetrics().register(registry)).toThrow('already been registered')
  })
})
