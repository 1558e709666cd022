/**
 * Names the type of a body that came without one: JSON, for PATCH the kind of patch that its shape shows.
 *
 * Undefined when it is not JSON: then the server is left to judge.
 */
export function guessContentType(method: string, body: Uint8Array): string | undefined {
  const value = parse(Buffer.from(body).toString())
  if (value === undefined) return undefined
  if (method !== 'PATCH') return 'application/json'
  return Array.isArray(value) ? 'application/json-patch+json' : 'application/merge-patch+json'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
