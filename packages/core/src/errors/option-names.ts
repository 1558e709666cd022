/** The edit distance up to which a name is suggested. */
const MAX_DISTANCE = 2

/**
 * Checks that options are an object and contain only known names. A misspelt option would otherwise be ignored silently.
 *
 * @param what Whose options these are, such as `connect()`.
 * @param names All known names; the first one serves as the example.
 * @param elsewhere Advice for options that other libraries have, by name.
 * @throws {TypeError} Names the unknown option, and the one that was probably meant.
 */
export function checkOptionNames(
  given: unknown,
  what: string,
  names: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${what} takes its options as an object, such as { ${names[0]}: … }`)
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || names.includes(name)) continue
    const advice = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
    const closest = closestName(name, names)
    const suggestion =
      closest === undefined ? `it has ${names.join(', ')}` : `did you mean ${closest}?`
    throw new TypeError(`${what} has no option ${JSON.stringify(name)}; ${advice ?? suggestion}`)
  }
}

/**
 * Returns the known name that was probably meant.
 *
 * Allows one mistake per three letters, and two at most. Two swapped letters count as one mistake, and so does a name
 * that is a prefix of a known one.
 *
 * @returns Undefined if no name is close enough: a wrong suggestion is worse than none.
 */
export function closestName(typed: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.min(MAX_DISTANCE, Math.max(1, Math.floor(typed.length / 3))) + 1
  for (const name of names) {
    const isPrefix = typed.length >= 3 && name.startsWith(typed)
    const distance = isPrefix ? 1 : editDistance(typed.toLowerCase(), name.toLowerCase())
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

/** The number of letters to insert, remove, replace or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + cost,
        isSwap ? at(beforeLast, column - 2) + cost : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
