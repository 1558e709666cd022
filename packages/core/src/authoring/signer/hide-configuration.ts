import { scrub } from '../../secret/scrub.ts'
import { Secret } from '../../secret/secret.ts'
import type { SignerConfiguration } from './sign-request.ts'

const MARK = '[secret]'
const PRIVATE = /pin|puk|pass|secret|credential|^token$/i
/** Where something is, and not the thing itself. */
const PLACE = /(?:env|file|path|source)$/i
/** RFC 7512 lets a URI carry a PIN. */
const PIN_IN_URI = /(pin-value=)([^&;#\s]*)/gi
/** Shorter ones are hidden only where they stand alone: "12" is a part of too many words. */
const SHORTEST_ANYWHERE = 6

/**
 * Takes the private values of a configuration out of a text that is about to be shown: what is called PIN, password
 * or secret, and PINs inside of URIs. A library may have quoted them.
 */
export function hideConfiguration(text: string, configuration: SignerConfiguration): string {
  const values = Object.entries(configuration).flatMap(([name, value]) => [
    ...(PRIVATE.test(name) && !PLACE.test(name) ? [value] : []),
    ...pinsInUri(value),
  ])
  let shown = scrub(
    text,
    values.map((value) => new Secret(value)),
  ).replace(PIN_IN_URI, `$1${MARK}`)
  for (const value of values.filter(({ length }) => length > 1 && length < SHORTEST_ANYWHERE)) {
    shown = shown.replace(standingAlone(value), MARK)
  }
  return shown
}

function pinsInUri(value: string): string[] {
  return [...value.matchAll(PIN_IN_URI)].flatMap(([, , pin = '']) => [pin, decoded(pin)])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function standingAlone(value: string): RegExp {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, 'gu')
}
