import type { Secret } from './secret.ts'

/** Shorter values are too common to search for: removing every "a" would hide the message, not the secret. */
const SHORTEST_KNOWN_SECRET = 6
const MARK = '[secret]'

/** Shapes of credentials that may appear in text nobody told us about. */
const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\bk8s-aws-v1\.[\w-]{16,}/g,
  /\b(?:ya29|ghp|gho|ghs|glpat|xox[abp]|dop_v1)[._-][\w.-]{12,}/g,
  /\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi,
  /("(?:token|access_token|id_token|refresh_token|client_secret|password|clientKeyData)"\s*:\s*")[^"]+/gi,
  // "could not get token: could not …" is prose, and what stands there is the reason.
  /(?<![a-z0-9])((?:password|passwd|secret|token|(?:api|access|private)[_-]?key|pin) ?[=:]\s*)(?!(?:could|cannot|failed|invalid|unable|error|missing|expired|with|there|this|from)\s)[^\s"',;&]{4,}/gi,
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
]

/** Removes secrets from text that is about to be shown: the ones we know, and what looks like one. */
export function scrub(text: string, known: Iterable<Secret> = []): string {
  let shown = hideSecrets(text, known)
  for (const shape of SHAPES) {
    shown = shown.replace(shape, (...match: unknown[]) =>
      typeof match[1] === 'string' ? `${match[1]}${MARK}` : MARK,
    )
  }
  return shown
}

/**
 * Removes known secrets from text, also where they are percent-encoded, in base64 or escaped as in JSON.
 *
 * The longest comes first, so that a secret which contains another leaves nothing behind.
 */
export function hideSecrets(text: string, known: Iterable<Secret>): string {
  const values = [...known]
    .flatMap((secret) => [secret.expose(), ...secret.expose().split(/\r?\n/)])
    .filter((value) => value.length >= SHORTEST_KNOWN_SECRET)
    .flatMap(writtenForms)
    .sort((a, b) => b.length - a.length)
  let shown = text
  for (const value of new Set(values)) shown = shown.replaceAll(value, MARK)
  return shown
}

/** A value as it is, and as a program may write it that repeats what it was sent. */
function writtenForms(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value)
  const upper = [...bytes].map(percentEncoded).join('')
  const lower = upper.replace(/%[0-9A-F]{2}/g, (each) => each.toLowerCase())
  const base64 = [0, 1, 2].map((before) => insideBase64(bytes, before))
  return [
    value,
    upper,
    lower,
    // A URL in the query of another.
    upper.replaceAll('%', '%25'),
    upper.replaceAll('%20', '+'),
    JSON.stringify(value).slice(1, -1),
    ...base64,
    ...base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/** As `encodeURIComponent` does it, which throws for half a surrogate pair. */
function percentEncoded(byte: number): string {
  const character = String.fromCharCode(byte)
  if (/[\w.!~*'()-]/.test(character)) return character
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

/**
 * The characters of base64 that depend on these bytes alone, wherever they stand in a longer value.
 *
 * @param before How many bytes more than a multiple of three stand before them.
 */
function insideBase64(bytes: Uint8Array, before: number): string {
  const length = before + bytes.length
  const text = btoa(
    '\0'.repeat(before) + [...bytes].map((byte) => String.fromCharCode(byte)).join(''),
  )
  return text.slice(Math.ceil((before * 8) / 6), Math.floor((length * 8) / 6))
}

/**
 * Makes control characters visible, as kubectl does with install hints: an escape sequence in text
 * from a file must not steer the reader's terminal. Tabs and line breaks stay.
 */
export function showControlCharacters(text: string): string {
  // Most text, and much faster.
  if (/^[\t\n\x20-\x7e]*$/.test(text)) return text
  return text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\t\n\v\f\r]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}
