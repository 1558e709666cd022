/** How many typing mistakes a name may have and still be taken for another one. */
const MAX_MISTAKES = 2

/**
 * Checks that options are an object, and that each of them exists: one that is misspelt would be one that is
 * not set, and nobody would notice.
 *
 * @param what Whose options these are, such as `connect()`.
 * @param names Those that exist; the first one serves as the example.
 * @param elsewhere What to do instead of options that other libraries have.
 * @throws {TypeError} Names the option, and the one that was probably meant.
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
    const known = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
    const meant = closestName(name, names)
    const advice = meant === undefined ? `it has ${names.join(', ')}` : `did you mean ${meant}?`
    throw new TypeError(`${what} has no option ${JSON.stringify(name)}; ${known ?? advice}`)
  }
}

/**
 * Finds the name that was probably meant.
 *
 * Undefined if none is near: a wrong suggestion is worse than none. One mistake per three letters is near, but never
 * more than two; two swapped neighbours are one mistake, and so is a name that is only begun.
 */
export function closestName(typed: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.min(MAX_MISTAKES, Math.max(1, Math.floor(typed.length / 3))) + 1
  for (const name of names) {
    const isBeginning = typed.length >= 3 && name.startsWith(typed)
    const distance = isBeginning ? 1 : editDistance(typed.toLowerCase(), name.toLowerCase())
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

/** Letters to insert, remove, replace or swap with their neighbour. */
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
