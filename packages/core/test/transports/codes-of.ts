/** The codes of an error and its causes: clients wrap our errors in their own. */
export function codesOf(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [error]
  const { code } = error as Error & { code?: unknown }
  return [code, ...(error.cause === undefined ? [] : codesOf(error.cause))]
}
