/** Drops the members that are undefined: an optional member is absent here, never present without a value. */
export function withoutUndefined<T extends object>(
  members: {
    [K in keyof T]-?: T[K] | undefined
  },
): T {
  // The type says that only optional members may be missing from the result.
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => member !== undefined),
  ) as T
}
