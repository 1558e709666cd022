/** A parsed object whose fields are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>

/** Environment variables by name, of this process or of a child process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Returns whether a value is an object other than an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Describes the type of a value for an error message, never the value itself. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value === 'bigint' ? 'number' : typeof value}`
}

/** Removes members that are undefined: in this code an optional member is absent, never set to undefined. */
export function withoutUndefined<T extends object>(
  members: {
    [K in keyof T]: T[K] | undefined
  },
): T {
  // By its type, only optional members can be missing from the result.
  const kept: Partial<T> = {}
  for (const name of Object.keys(members) as (keyof T)[]) {
    const member: T[keyof T] | undefined = members[name]
    if (member !== undefined) kept[name] = member
  }
  return kept as T
}
