/** The code of an error, and of what it wraps: clients put what they were told into errors of their own. */
export function codesOf(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [error]
  const { code } = error as Error & { code?: unknown }
  return [code, ...(error.cause === undefined ? [] : codesOf(error.cause))]
}
