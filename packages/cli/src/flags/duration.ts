const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g

/**
 * Parses a duration as kubectl's `--request-timeout` does: whole seconds, or a Go duration such as `1m30s`.
 *
 * @returns Milliseconds; undefined if the text is neither.
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000
  if (text.replace(PART, '') !== '' || text === '') return undefined
  let total = 0
  for (const [, amount, unit = ''] of text.matchAll(PART)) {
    total += Number(amount) * (UNITS_MS[unit] ?? 0)
  }
  return total
}
