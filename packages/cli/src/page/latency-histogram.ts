/** Each step is this much longer than the one before, so a percentile is off by at most 4 %. */
const GROWTH = 1.08
const SHORTEST_MS = 0.1
const STEPS = 206
const PER_STEP = 1 / Math.log(GROWTH)

/**
 * How long things took, in a fixed amount of memory however many there were.
 *
 * Covers 0.1 ms to about ten minutes; what lies outside counts as the nearest end.
 */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(STEPS)
  #total = 0

  get total(): number {
    return this.#total
  }

  add(tookMs: number): void {
    const step = tookMs > SHORTEST_MS ? Math.round(Math.log(tookMs / SHORTEST_MS) * PER_STEP) : 0
    const at = Math.min(step, STEPS - 1)
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#total += 1
  }

  /** Adds everything another one has counted. */
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
   * What the given share did not exceed, in milliseconds; 0 when there is nothing.
   *
   * @param share Between 0 and 1.
   */
  percentile(share: number): number {
    const rank = Math.max(1, Math.ceil(this.#total * share))
    let seen = 0
    for (const [step, count] of this.#counts.entries()) {
      seen += count
      if (seen >= rank) return roundMs(SHORTEST_MS * GROWTH ** step)
    }
    return 0
  }
}

/** To three digits: more would only look exact. */
function roundMs(milliseconds: number): number {
  return Number(milliseconds.toPrecision(3))
}
