import type { Registry } from 'prom-client'
import { PeerMissingError } from '../errors/index.ts'
import { systemClock } from '../node/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialEvent, Observer } from '../ports/observer.ts'
import { makeInstruments } from './instruments.ts'
import { Recorder } from './record-event.ts'
import { SourcesInUse } from './sources-in-use.ts'

/** The metrics: an observer that updates them, and the registry that holds them. */
export interface Metrics<Register = PromRegister> {
  /** Updates the metrics. Pass it to every `connect()`: an event that several connections receive is counted once. */
  readonly observer: Observer
  /** The registry with the metrics; `register.metrics()` returns the text for Prometheus. */
  readonly register: Register
}

/** Options of `createMetrics`. */
export interface MetricsOptions<Register = PromRegister> {
  /** The registry to add the metrics to; by default the global `register` of prom-client. */
  readonly register?: Register | undefined
  /** The clock for times to live and ages; by default the system clock. */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * The part of prom-client's `Registry` that serves the metrics.
 *
 * With the option `register`, the registry's own type is returned instead.
 */
export interface PromRegister {
  readonly contentType: string
  metrics(): Promise<string>
  // Each version of prom-client has its own type for a metric; `never` accepts all of them.
  registerMetric(metric: never): void
}

/**
 * Creates the metrics with prom-client, and an observer for `connect()` that updates them.
 *
 * @throws {PeerMissingError} `ERR_PEER_MISSING` if prom-client is not installed.
 * @throws {Error} prom-client's own error if the registry already has a metric of the same name: call this once per
 *   registry.
 *
 * @example
 * import { register } from 'prom-client'
 * const metrics = await createMetrics({ register })
 * const cluster = await connect({ observer: metrics.observer })
 * response.setHeader('content-type', register.contentType).end(await register.metrics())
 */
export async function createMetrics<Register extends PromRegister = PromRegister>({
  register: given,
  clock = systemClock,
}: MetricsOptions<Register> = {}): Promise<Metrics<Register>> {
  const prom = await loadPromClient(() => import('prom-client'))
  const register = given ?? (prom.register as PromRegister as Register)
  const now = (): number => clock.now()
  const inUse = new SourcesInUse()
  const instruments = makeInstruments(prom, register as PromRegister as Registry, inUse, now)
  const recorder = new Recorder(instruments, now)
  /** Connections that share a keeper all receive its events, as the same object. */
  const counted = new WeakSet<CredentialEvent>()
  return {
    observer(event) {
      if (counted.has(event)) return
      counted.add(event)
      inUse.update(event)
      recorder.record(event)
    },
    register,
  }
}

/**
 * Combines several observers into one.
 *
 * Each observer receives every event, even if another one throws.
 *
 * @example
 * const cluster = await connect({ observer: combineObservers(metrics.observer, (event) => log(event)) })
 */
export function combineObservers(...observers: (Observer | undefined)[]): Observer {
  return (event) => {
    for (const observer of observers) {
      try {
        observer?.(event)
      } catch {
        // Errors of observers are ignored everywhere; the other observers must still be called.
      }
    }
  }
}

/**
 * Loads prom-client.
 *
 * @throws {PeerMissingError} `ERR_PEER_MISSING` if it is not installed.
 */
export async function loadPromClient<PromClient>(
  load: () => Promise<{ default: PromClient }>,
): Promise<PromClient> {
  try {
    // It is CommonJS, and bundlers do not always detect its named exports.
    return (await load()).default
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new PeerMissingError('kubecred/metrics', 'prom-client', { cause })
  }
}
