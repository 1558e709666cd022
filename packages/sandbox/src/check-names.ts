/**
 * Checks that options are an object with known names: a misspelt option would be ignored silently.
 *
 * @param what The function that takes the options, such as `startSandbox()`.
 * @param known All valid names.
 * @throws {TypeError} The options are not an object, or one is unknown; the message suggests the closest name.
 */
export function checkOptionNames(
  given: unknown,
  what: string,
  known: Readonly<Record<string, true>>,
): void {
  const names = Object.keys(known)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${what} must be an object with some of: ${names.join(', ')}`)
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    const meant = closest(name, names)
    const advice =
      meant === undefined ? `valid names: ${names.join(', ')}` : `did you mean ${meant}?`
    throw new TypeError(`${what} has no ${JSON.stringify(name)}; ${advice}`)
  }
}

/** Returns the closest name, with at most one mistake for every three letters. */
function closest(typed: string, names: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const name of names) {
    const distance = editDistance(normalise(typed), normalise(name))
    if (distance >= bestDistance) continue
    best = name
    bestDistance = distance
  }
  return best
}

/** Normalises a name, so that `authProvider` equals `auth-provider`. */
function normalise(name: string): string {
  return name.toLowerCase().replaceAll('-', '')
}

/** Returns the number of insertions, deletions, replacements and swaps of neighbours between two names. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number): number =>
    rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + cost,
        isSwap ? at(row - 2, column - 2) + cost : Number.POSITIVE_INFINITY,
      )
    }
  }
  return at(a.length, b.length)
}
