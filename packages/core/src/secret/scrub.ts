import type { Secret } from './secret.ts'

/** Shorter values are not removed: they are so common that the message would become unreadable. */
const MIN_SECRET_LENGTH = 6
const MARK = '[secret]'

/** Patterns of credentials that are not known beforehand. */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\bk8s-aws-v1\.[\w-]{16,}/g,
  /\b(?:ya29|ghp|gho|ghs|glpat|xox[abp]|dop_v1)[._-][\w.-]{12,}/g,
  /\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi,
  /("(?:token|access_token|id_token|refresh_token|client_secret|password|clientKeyData)"\s*:\s*")[^"]+/gi,
  // In "could not get token: …" and "get-token: …", the text after the colon is the reason and stays.
  /(?<![a-z0-9]|\bget[-_ ])((?:password|passwd|secret|token|(?:api|access|private)[_-]?key|pin) ?[=:]\s*)(?!(?:could|cannot|failed|invalid|unable|error|missing|expired|with|there|this|from)\s)[^\s"',;&]{4,}/gi,
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
]

/** Removes known secrets and everything that looks like a credential from text that is about to be shown. */
export function scrub(text: string, known: Iterable<Secret> = []): string {
  let shown = hideSecrets(text, known)
  for (const pattern of PATTERNS) {
    shown = shown.replace(pattern, (...match: unknown[]) =>
      typeof match[1] === 'string' ? `${match[1]}${MARK}` : MARK,
    )
  }
  return shown
}

/**
 * Removes known secrets from text, also if they are percent-encoded, base64-encoded or escaped as in JSON.
 *
 * Longer secrets are removed first, so that nothing remains of a secret that contains another.
 */
export function hideSecrets(text: string, known: Iterable<Secret>): string {
  const values = [...known]
    .flatMap((secret) => [secret.expose(), ...secret.expose().split(/\r?\n/)])
    .filter((value) => value.length >= MIN_SECRET_LENGTH)
    .flatMap(encodingsOf)
    .sort((a, b) => b.length - a.length)
  let shown = text
  for (const value of new Set(values)) shown = shown.replaceAll(value, MARK)
  return shown
}

/** Returns the value itself and every encoding in which a program may repeat it. */
function encodingsOf(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value)
  const upper = [...bytes].map(percentEncoded).join('')
  const lower = upper.replace(/%[0-9A-F]{2}/g, (each) => each.toLowerCase())
  const base64 = [0, 1, 2].map((before) => insideBase64(bytes, before))
  return [
    value,
    upper,
    lower,
    // Encoded twice: a URL in the query of another URL.
    upper.replaceAll('%', '%25'),
    upper.replaceAll('%20', '+'),
    JSON.stringify(value).slice(1, -1),
    ...base64,
    ...base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/** Works like `encodeURIComponent`, which throws for an unpaired surrogate. */
function percentEncoded(byte: number): string {
  const character = String.fromCharCode(byte)
  if (/[\w.!~*'()-]/.test(character)) return character
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

/**
 * Returns the base64 characters that depend only on these bytes, wherever the bytes are in a longer value.
 *
 * @param before The number of preceding bytes, modulo three.
 */
function insideBase64(bytes: Uint8Array, before: number): string {
  const length = before + bytes.length
  const text = btoa(
    '\0'.repeat(before) + [...bytes].map((byte) => String.fromCharCode(byte)).join(''),
  )
  return text.slice(Math.ceil((before * 8) / 6), Math.floor((length * 8) / 6))
}

/**
 * Makes control characters visible, as kubectl does in install hints, so that text from a file or a program cannot
 * control the user's terminal. Tabs and line breaks stay. A carriage return alone would let text overwrite its line.
 */
export function showControlCharacters(text: string): string {
  // The common case, and much faster.
  if (/^[\t\n\x20-\x7e]*$/.test(text)) return text
  return text.replace(/\r(?!\n)|[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\t\n\r]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}
