import type { RequestSummary } from 'kubecred/proxy'
import { LatencyHistogram } from './latency-histogram.ts'
import type { Traffic, TrafficSecond } from './snapshot.ts'

/** How many seconds are remembered. */
const SECONDS = 120

/** Counts requests by the second, in a fixed amount of memory. */
export class TrafficMeter {
  readonly #now: () => number
  /** The second with number n lives at n modulo the length, until another takes the place. */
  readonly #slots = Array.from({ length: SECONDS }, () => new Slot())
  #total = 0
  #failed = 0

  constructor(now: () => number) {
    this.#now = now
  }

  note({ status, tookMs }: RequestSummary): void {
    // Its end, not its beginning: what is past must not change any more.
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
  /** Seconds since the epoch; -1 when it was never used. */
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
