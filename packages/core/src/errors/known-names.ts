/** How many typing mistakes a name may have and still be taken for another one. */
const MOST_MISTAKES = 2

/**
 * Checks that options are an object, and that each of them exists: one that is misspelt would be one that is
 * not set, and nobody would notice.
 *
 * @param what Whose options these are, such as `connect()`.
 * @param names Those that exist; the first one serves as the example.
 * @param elsewhere What to do instead of options that other libraries have.
 * @throws {TypeError} Names the option, and the one that was probably meant.
 */
export function checkNames(
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
    const meant = closest(name, names)
    const advice = meant === undefined ? `it has ${names.join(', ')}` : `did you mean ${meant}?`
    throw new TypeError(`${what} has no option ${JSON.stringify(name)}; ${known ?? advice}`)
  }
}

function closest(typed: string, names: readonly string[]): string | undefined {
  // In a short name, two mistakes make any word of any other.
  const most = Math.min(MOST_MISTAKES, Math.floor(typed.length / 3))
  const distances = names.map((name) => distance(typed.toLowerCase(), name.toLowerCase()))
  const least = Math.min(...distances)
  return least <= most ? names[distances.indexOf(least)] : undefined
}

/** Letters to insert, remove or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1]
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
