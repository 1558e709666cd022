// What a recorded row says: its median and spread, whether it meets its target, and whether we lose.
// A row is `{ what, peer?, unit?, target?, values }`, with a value of each run.

/** Reads a row of a benchmark, whose value may be text such as `81 ms` and whose target may have `>=` or `<=`. */
export function readRow({ value, ...given }) {
  const target = given.target?.replace('>=', '≥').replace('<=', '≤')
  const row = { ...given, ...(target !== undefined && { target }) }
  const [, number, unit] = /^(-?\d+(?:\.\d+)?)(?: (\S+))?$/.exec(String(value)) ?? []
  if (number === undefined) return { ...row, values: [String(value)] }
  return { ...row, ...(unit !== undefined && { unit }), values: [Number(number)] }
}

/** Returns the median; undefined for a row without numbers, which says why it was not measured. */
export function medianOf({ values }) {
  if (values.some((value) => typeof value !== 'number')) return undefined
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2
}

/** Returns the median and, for several runs, the smallest and the largest value. */
export function showValues(row) {
  const median = medianOf(row)
  if (median === undefined) return row.values.find((value) => typeof value !== 'number')
  const [low, high] = [Math.min(...row.values), Math.max(...row.values)].map(showNumber)
  return low === high ? showNumber(median) : `${showNumber(median)} (${low}–${high})`
}

export function showNumber(value) {
  const digits = Math.abs(value) >= 100 ? 0 : 2
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

/** Returns `met`, `missed` or `no target`; `not run` for a target without a number. */
export function verdictOf(row) {
  const target = readTarget(row.target)
  if (target === undefined) return 'no target'
  const median = medianOf(row)
  if (median === undefined) return 'not run'
  const { relation, bound } = target
  const isMet = { '≥': median >= bound, '≤': median <= bound, '=': median === bound }[relation]
  return isMet ? 'met' : 'missed'
}

/** Returns whether this is a ratio to something else on the wrong side of 1, whether a target allows it or not. */
export function isLoss(row) {
  const median = medianOf(row)
  const relation = readTarget(row.target)?.relation
  const isRatio = row.peer !== undefined || (relation !== undefined && row.what.includes(' / '))
  if (median === undefined || row.unit !== undefined || !isRatio) return false
  return relation === '≤' ? median > 1 : median < 1
}

/** Reads `≥ 0.85`, `≤ 1.2` or `0`. */
function readTarget(target) {
  const match = /^(≥|≤)?\s*(-?\d+(?:\.\d+)?)$/.exec(target ?? '')
  if (match === null) return undefined
  const [, relation = '=', bound] = match
  return { relation, bound: Number(bound) }
}
