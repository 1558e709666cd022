/** Each bucket is this much wider than the one before, so a percentile is off by at most 4 %. */
const GROWTH = 1.08
const MIN_MS = 0.1
const STEPS = 206
const PER_STEP = 1 / Math.log(GROWTH)

/**
 * A histogram of durations in a fixed amount of memory.
 *
 * Covers 0.1 ms to about ten minutes; values outside count as the nearest bound.
 */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(STEPS)
  #total = 0

  get total(): number {
    return this.#total
  }

  add(tookMs: number): void {
    const step = tookMs > MIN_MS ? Math.round(Math.log(tookMs / MIN_MS) * PER_STEP) : 0
    const at = Math.min(step, STEPS - 1)
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#total += 1
  }

  /** Adds the counts of another histogram. */
  merge(other: LatencyHistogram): void {
    for (const [step, count] of other.#counts.entries()) {
      this.#counts[step] = (this.#counts[step] ?? 0) + count
    }
    this.#total += other.#total
  }

  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
  }

  /**
   * Returns a percentile in milliseconds; 0 if the histogram is empty.
   *
   * @param share Between 0 and 1: 0.99 for the 99th percentile.
   */
  percentile(share: number): number {
    const rank = Math.max(1, Math.ceil(this.#total * share))
    let seen = 0
    for (const [step, count] of this.#counts.entries()) {
      seen += count
      if (seen >= rank) return roundMs(MIN_MS * GROWTH ** step)
    }
    return 0
  }
}

/** Rounds to three significant digits. */
function roundMs(milliseconds: number): number {
  return Number(milliseconds.toPrecision(3))
}
