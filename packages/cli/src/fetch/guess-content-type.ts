/**
 * Guesses the content type of a JSON body; for PATCH, the kind of patch from its shape.
 *
 * Returns undefined if the body is not JSON, and leaves it to the server.
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
