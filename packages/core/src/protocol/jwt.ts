/**
 * Reads when a JSON Web Token ends. Its signature is not looked at: the API server judges that.
 *
 * @returns Milliseconds since the epoch; undefined for anything that is no token with a number in `exp`.
 */
export function jwtExpiry(token: string): number | undefined {
  const [, payload, signature, ...more] = token.split('.')
  if (payload === undefined || signature === undefined || more.length > 0) return undefined
  const claims = decodePart(payload)
  const exp = typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : null
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
}

function decodePart(part: string): unknown {
  try {
    const binary = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
