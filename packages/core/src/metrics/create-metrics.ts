import { systemClock } from '../node/system-clock.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialEvent, Observer } from '../ports/observer.ts'
import { BoundedNames } from './bounded-names.ts'
import type { Instrument, MetricFamily } from './family.ts'
import { makeInstruments } from './instruments.ts'
import { recordEvent } from './record-event.ts'
import { recordLogin } from './record-login.ts'
import { type PromRegistry, registerAll } from './register.ts'
import { renderText } from './render-text.ts'
import { VaultLoads } from './vault-loads.ts'

/** A program has a few login handlers; one that makes up names must not make up metrics with them. */
const MOST_HANDLERS = 50

/** Numbers about credentials, counted from events. */
export interface Metrics {
  /** What counts. Give it to every `connect()`: one plugin run is counted once, however many share it. */
  readonly observer: Observer
  /** The content type of `text()`. */
  readonly contentType: string
  /** Everything as plain data, as it stands now. */
  values(): readonly MetricFamily[]
  /** Everything in Prometheus' text format, as it stands now. */
  text(): string
  /**
   * Shows everything in a registry of prom-client 15 too.
   *
   * @throws {Error} prom-client's, when the registry has a metric of the same name.
   *
   * @example
   * import { register } from 'prom-client'
   * metrics.register(register)
   */
  register(registry: PromRegistry): void
}

export interface MetricsOptions {
  /** The clock that time to live and age are told by; the system's unless given. */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * Makes a collector: an observer for `connect()`, and what it has counted so far.
 *
 * It belongs to nobody but the caller: without it nothing is counted, and two of them know nothing of
 * each other.
 *
 * @example
 * const metrics = createMetrics()
 * const cluster = await connect({ observer: metrics.observer })
 * response.setHeader('content-type', metrics.contentType).end(metrics.text())
 */
export function createMetrics({ clock = systemClock }: MetricsOptions = {}): Metrics {
  const now = (): number => clock.now()
  const vaults = new VaultLoads()
  const instruments = makeInstruments(now, vaults)
  const handlers = new BoundedNames(MOST_HANDLERS)
  const all: readonly Instrument[] = Object.values(instruments)
  /** Connections that share a keeper all hear its events; behind two observers it is the same object. */
  const counted = new WeakSet<CredentialEvent>()
  const values = (): readonly MetricFamily[] => all.map(readNow)
  return {
    observer(event) {
      if (counted.has(event)) return
      counted.add(event)
      vaults.note(event)
      recordEvent(event, instruments, now())
      recordLogin(event, instruments, handlers)
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    values,
    text: () => renderText(values()),
    register: (registry) => registerAll(all, registry),
  }
}

function readNow(instrument: Instrument): MetricFamily {
  const { name, help, type } = instrument
  return { name, help, type, samples: instrument.samples() }
}
