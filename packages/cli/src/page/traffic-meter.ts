import type { RequestSummary } from 'kubecred/proxy'
import { LatencyHistogram } from './latency-histogram.ts'
import type { Traffic, TrafficSecond } from './snapshot.ts'

/** How many seconds are remembered. */
const SECONDS = 120

/** Counts requests per second, in a fixed amount of memory. */
export class TrafficMeter {
  readonly #now: () => number
  /** A ring buffer: second n is at index n modulo its length. */
  readonly #slots = Array.from({ length: SECONDS }, () => new Slot())
  #total = 0
  #failed = 0

  constructor(now: () => number) {
    this.#now = now
  }

  note({ status, tookMs }: RequestSummary): void {
    // By the time of its end, so that past seconds do not change.
    const second = Math.floor(this.#now() / 1000)
    const slot = this.#slots[second % SECONDS]
    if (slot === undefined) return
    if (slot.second !== second) slot.begin(second)
    const hasFailed = status === 0 || status >= 400
    slot.latency.add(tookMs)
    slot.failed += hasFailed ? 1 : 0
    this.#total += 1
    this.#failed += hasFailed ? 1 : 0
  }

  read(open: number): Traffic {
    const oldest = Math.floor(this.#now() / 1000) - SECONDS
    const recent = this.#slots
      .filter(({ second }) => second > oldest)
      .sort((a, b) => a.second - b.second)
    const all = new LatencyHistogram()
    for (const { latency } of recent) all.merge(latency)
    return {
      total: this.#total,
      failed: this.#failed,
      open,
      seconds: recent.map((slot) => slot.read()),
      ...(all.total > 0 && { p50: all.percentile(0.5), p99: all.percentile(0.99) }),
    }
  }
}

class Slot {
  /** Seconds since the epoch; -1 if unused. */
  second = -1
  failed = 0
  readonly latency = new LatencyHistogram()

  begin(second: number): void {
    this.second = second
    this.failed = 0
    this.latency.clear()
  }

  read(): TrafficSecond {
    const { second, failed, latency } = this
    const p50 = latency.percentile(0.5)
    return {
      at: second * 1000,
      requests: latency.total,
      failed,
      p50,
      p99: latency.percentile(0.99),
    }
  }
}
