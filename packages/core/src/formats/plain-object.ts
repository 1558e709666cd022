export type Fields = Readonly<Record<string, unknown>>

/** Environment variables by name: of this process, or of one that we start. */
export type Environment = Readonly<Record<string, string | undefined>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names the type of a value for an error, never the value. */
export function describeType(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value === 'bigint' ? 'number' : typeof value}`
}

/** Drops the members that are undefined: an optional member is absent here, never present without a value. */
export function withoutUndefined<T extends object>(
  members: {
    [K in keyof T]: T[K] | undefined
  },
): T {
  // The type says that only optional members may be missing from the result.
  const kept: Partial<T> = {}
  for (const name of Object.keys(members) as (keyof T)[]) {
    const member: T[keyof T] | undefined = members[name]
    if (member !== undefined) kept[name] = member
  }
  return kept as T
}
