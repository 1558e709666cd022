import { isDeepStrictEqual } from 'node:util'

/** The differences by aspect: `theirs → ours`. */
export type Summary = Readonly<Record<string, string>>

const MAX_LENGTH = 60

/** Returns a short, stable summary of the differences between two sides. */
export function summarize(
  differences: readonly { aspect: string; theirs: unknown; ours: unknown }[],
): Summary {
  const summary: Record<string, string[]> = {}
  for (const { aspect, theirs, ours } of differences) {
    const words = describePair(theirs, ours)
    const said = summary[aspect] ?? []
    summary[aspect] = said.includes(words) ? said : [...said, words]
  }
  const entries = Object.entries(summary).sort(([a], [b]) => a.localeCompare(b))
  return Object.fromEntries(entries.map(([aspect, words]) => [aspect, words.join('; ')]))
}

function describePair(theirs: unknown, ours: unknown): string {
  const [left, right] = [describeSide(theirs), describeSide(ours)]
  return left === right ? `other ${differentPlaces(theirs, ours).join(', ')}` : `${left} → ${right}`
}

/** Shows short values as they are, and lists of other values by their length. */
function describeSide(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_LENGTH)
  if (!Array.isArray(value)) return String(value)
  if (value.length === 0) return 'nothing'
  const isPlain = value.every((each) => typeof each === 'string' || typeof each === 'number')
  return isPlain ? value.join(', ').slice(0, MAX_LENGTH) : String(value.length)
}

/** Returns the paths at which two values of the same shape differ, without list indexes. */
function differentPlaces(theirs: unknown, ours: unknown): readonly string[] {
  if (isDeepStrictEqual(theirs, ours)) return []
  if (!isNested(theirs) || !isNested(ours)) return ['']
  const names = new Set([...Object.keys(theirs), ...Object.keys(ours)])
  const places = [...names].flatMap((name) =>
    differentPlaces(theirs[name], ours[name]).map((below) => {
      const here = Array.isArray(theirs) ? '' : name
      return [here, below].filter((each) => each !== '').join('.')
    }),
  )
  return [...new Set(places)]
}

function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
