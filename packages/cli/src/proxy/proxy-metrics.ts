import { createMetrics, type Metrics } from 'kubecred/metrics'
import type { RequestSummary } from 'kubecred/proxy'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The metrics of `kubecred proxy`: credentials, requests and the process. */
export interface ProxyMetrics {
  readonly observer: Metrics['observer']
  readonly note: (note: RequestSummary) => void
  /** Returns the text for Prometheus. */
  read(): Promise<{ readonly type: string; readonly body: string }>
}

/** Other methods are counted as `other`: clients must not create label values without bound. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Creates the metrics in their own registry.
 *
 * @param open Returns the number of requests in flight.
 */
export async function makeProxyMetrics(open: () => number): Promise<ProxyMetrics> {
  const register = new Registry()
  const registers = [register]
  const { observer } = await createMetrics({ register })
  collectDefaultMetrics({ register })
  const requests = new Counter({
    name: 'kubecred_proxy_requests_total',
    help: 'Requests to the proxy, by method, response status, and whether the server or the proxy responded.',
    labelNames: ['method', 'code', 'answered_by'],
    registers,
  })
  const durations = new Histogram({
    name: 'kubecred_proxy_request_duration_seconds',
    help: 'Time until the response headers of the server.',
    labelNames: ['method'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  })
  new Gauge({
    name: 'kubecred_proxy_requests_open',
    help: 'Requests, watches and upgraded connections in flight.',
    registers,
    collect() {
      this.set(open())
    },
  })
  return {
    observer,
    note({ method, status, rejectedFor, tookMs }) {
      const known = METHODS.has(method) ? method : 'other'
      const by = rejectedFor === undefined ? 'server' : 'proxy'
      requests.inc({ method: known, code: String(status), answered_by: by })
      if (rejectedFor === undefined) durations.observe({ method: known }, tookMs / 1000)
    },
    async read() {
      return { type: register.contentType, body: await register.metrics() }
    },
  }
}
