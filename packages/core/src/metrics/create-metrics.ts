import type { Registry } from 'prom-client'
import { PeerMissingError } from '../errors/index.ts'
import { systemClock } from '../node/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialEvent, Observer } from '../ports/observer.ts'
import { makeInstruments } from './instruments.ts'
import { Recorder } from './record-event.ts'
import { SourcesInUse } from './sources-in-use.ts'

/** What counts, and where the numbers are. */
export interface Metrics<Register = PromRegister> {
  /** Counts events. Give it to every `connect()`: an event that several connections hear is counted once. */
  readonly observer: Observer
  /** The registry that has the metrics: `register.metrics()` is the text for Prometheus. */
  readonly register: Register
}

/** Options of `createMetrics`. */
export interface MetricsOptions<Register = PromRegister> {
  /** The registry to put the metrics in; by default the global `register` of prom-client. */
  readonly register?: Register | undefined
  /** The clock that time to live and age are measured with; by default the system's. */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * What a `Registry` of prom-client can do, as far as it is needed to serve the metrics.
 *
 * With the option `register`, the registry's own type is returned instead.
 */
export interface PromRegister {
  readonly contentType: string
  metrics(): Promise<string>
  // Every version of prom-client has a type of its own for a metric; this one fits all.
  registerMetric(metric: never): void
}

/**
 * Creates the metrics of prom-client, and an observer for `connect()` that updates them.
 *
 * @throws {PeerMissingError} When prom-client is not installed.
 * @throws {Error} prom-client's, when the registry has a metric of the same name: a registry takes these metrics once.
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
  /** Connections that share a keeper all hear its events; behind two observers it is the same object. */
  const counted = new WeakSet<CredentialEvent>()
  return {
    observer(event) {
      if (counted.has(event)) return
      counted.add(event)
      inUse.note(event)
      recorder.record(event)
    },
    register,
  }
}

/**
 * Combines several observers into one.
 *
 * Each receives every event, also when one before it throws.
 *
 * @example
 * const cluster = await connect({ observer: combine(metrics.observer, (event) => log(event)) })
 */
export function combine(...observers: (Observer | undefined)[]): Observer {
  return (event) => {
    for (const observer of observers) {
      try {
        observer?.(event)
      } catch {
        // The keeper ignores what an observer throws; the other observers must still be called.
      }
    }
  }
}

/**
 * Loads the installed package.
 *
 * @throws {PeerMissingError}
 */
export async function loadPromClient<PromClient>(
  load: () => Promise<{ default: PromClient }>,
): Promise<PromClient> {
  try {
    // It is CommonJS: bundlers do not always find the names that it exports.
    return (await load()).default
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new PeerMissingError('kubecred/metrics', 'prom-client', { cause })
  }
}
