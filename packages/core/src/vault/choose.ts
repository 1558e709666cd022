/** Something that can be chosen. */
export interface Candidate {
  /** Larger is preferred. */
  readonly priority: number
}

/**
 * Chooses among the candidates of the highest priority, each as likely as the others.
 *
 * @param random From 0 up to, but not including, 1.
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  random: number,
): C | undefined {
  const highest = Math.max(...candidates.map(({ priority }) => priority))
  const best = candidates.filter(({ priority }) => priority === highest)
  return best[Math.min(Math.floor(random * best.length), best.length - 1)]
}
