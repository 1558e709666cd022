/**
 * Returns the values of each header apart, by its name in lower case.
 *
 * Not `headersDistinct` of Node, which throws for a header named `__proto__` or `constructor` before 20.20.2 and 22.22.2:
 * a server could end the process. `__proto__` is left out, because it would change the prototype of an object that holds
 * headers.
 *
 * @param raw Alternating names and values, as received.
 */
export function distinctHeaders(raw: readonly string[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    const value = raw[at + 1] ?? ''
    const before = found.get(name)
    if (before !== undefined) before.push(value)
    else if (name !== '__proto__') found.set(name, [value])
  }
  return found
}
