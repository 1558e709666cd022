import { type Fields, isFields } from './plain-object.ts'
import { isUnixTime } from './rfc3339.ts'

/**
 * Returns the claims of a JSON Web Token without verifying its signature, which only the API server can do.
 *
 * @returns Undefined for anything that is not a JSON Web Token.
 */
export function jwtClaims(token: string): Fields | undefined {
  const [, payload, signature, ...more] = token.split('.')
  if (payload === undefined || signature === undefined || more.length > 0) return undefined
  try {
    const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isFields(claims) ? claims : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns when a JSON Web Token expires.
 *
 * @returns Milliseconds since the epoch; undefined for anything that is not a token with a time in `exp`.
 */
export function jwtExpiry(token: string): number | undefined {
  const exp = jwtClaims(token)?.['exp']
  return typeof exp === 'number' && isUnixTime(exp) ? exp * 1000 : undefined
}
