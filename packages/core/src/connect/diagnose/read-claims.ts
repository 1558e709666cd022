import { showControlCharacters } from '../../secret/scrub.ts'

export interface Claims {
  readonly issuer: string | undefined
  readonly audience: string | undefined
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined
}

const LONGEST = 200

/** What a token says about itself, without checking it; undefined when it is no JWT. */
export function readClaims(token: string): Claims | undefined {
  const [, body, signature] = token.split('.')
  if (body === undefined || signature === undefined) return undefined
  try {
    const { iss, aud, exp } = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
      iss?: unknown
      aud?: unknown
      exp?: unknown
    }
    return {
      issuer: text(iss),
      audience: text(Array.isArray(aud) ? aud.join(', ') : aud),
      expiresAt: typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined,
    }
  } catch {
    return undefined
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? showControlCharacters(value).slice(0, LONGEST) : undefined
}
