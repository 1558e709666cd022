import type { Instrument } from './family.ts'

/** The one method of prom-client's `Registry` that we call. It is the caller's: we never import it. */
export interface PromRegistry {
  registerMetric(metric: never): void
}

/**
 * Puts metrics into a registry of prom-client 15.
 *
 * A registry asks its metrics for their values with `get()` when it is scraped, so what is put there is not
 * prom-client's own classes but our numbers with that method: nothing is counted twice, a gauge is computed
 * when asked, and what happened before is not lost.
 */
export function registerAll(instruments: readonly Instrument[], registry: PromRegistry): void {
  for (const instrument of instruments) registry.registerMetric(promMetric(instrument) as never)
}

function promMetric(instrument: Instrument) {
  const { name, help, type, aggregator } = instrument
  return {
    // Not read-only: for OpenMetrics the registry takes `_total` off here, and puts it on each value.
    name,
    help,
    type,
    aggregator,
    async get() {
      const values = instrument.samples().map((sample) => ({
        ...(type === 'histogram' && { metricName: sample.name }),
        labels: sample.labels,
        value: sample.value,
      }))
      return { name: this.name, help, type, aggregator, values }
    },
    reset: () => instrument.reset(),
  }
}
