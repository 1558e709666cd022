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

/**
 * Removes secrets from text that is about to be shown: the ones we know, and what looks like one.
 *
 * The known ones come first, longest first, so that a secret which contains another leaves nothing behind.
 */
export function scrub(text: string, known: Iterable<Secret> = []): string {
  const values = [...known]
    .flatMap((secret) => [secret.expose(), ...secret.expose().split(/\r?\n/)])
    .filter((value) => value.length >= SHORTEST_KNOWN_SECRET)
    .sort((a, b) => b.length - a.length)
  let shown = text
  for (const value of values) shown = shown.replaceAll(value, MARK)
  for (const shape of SHAPES) {
    shown = shown.replace(shape, (...match: unknown[]) =>
      typeof match[1] === 'string' ? `${match[1]}${MARK}` : MARK,
    )
  }
  return shown
}

/**
 * Makes control characters visible, as kubectl does with install hints: an escape sequence in text
 * from a file must not steer the reader's terminal. Tabs and line breaks stay.
 */
export function showControlCharacters(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\t\n\v\f\r]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}
