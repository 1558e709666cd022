import type { SignerParameters } from '../protocol/signer-request.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'

const MARK = '[secret]'
/** Parameters that say where the signer is: every message names it. */
const PLACES: readonly string[] = ['pathExec', 'pathSocket', 'signerProtocol']
/** Parameters whose value is hidden however short it is: a PIN has four digits and more. */
const PRIVATE = /pin|puk|pass|secret|credential/i
/** Parameters that say where such a thing is: `pinSource: env` is no reason to hide every "env". */
const WHEREABOUTS = /(?:env|file|path|source|label)$/i
/** Parameters that name a device or a key: without them no message helps. */
const NAMES = /^(?:pathLib|slotId|objectId|objectIdHex|objectLabel|tokenLabel|tokenSerial)$/
/** RFC 7512 lets a URI carry a PIN. */
const PIN_IN_URI = /pin-value=([^&;#\s"']+)/gi
/** The scrubber leaves shorter ones alone. */
const SHORTEST_KNOWN = 6

/** Takes what is secret about one signer out of texts. */
export type SignerScrubber = (text: string) => string

/**
 * Makes the function that cleans what a signer said, for people: without parameters, PINs and control characters.
 *
 * @param pins Further PINs, from variables.
 */
export function signerScrubber(
  parameters: SignerParameters,
  pins: readonly string[] = [],
): SignerScrubber {
  const entries = [...parameters].filter(([name]) => !PLACES.includes(name) && !NAMES.test(name))
  const values = entries.map(([, value]) => value.expose())
  const hidden = [
    ...pins,
    ...entries.flatMap(([name, value]) =>
      PRIVATE.test(name) && !WHEREABOUTS.test(name) ? [value.expose()] : [],
    ),
    ...values.flatMap(pinsInUri),
  ]
  const known = [...values, ...hidden].map((value) => new Secret(value))
  const short = hidden
    .filter(({ length }) => length > 0 && length < SHORTEST_KNOWN)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    let shown = scrub(text, known)
    for (const value of short) shown = shown.replaceAll(value, MARK)
    return showControlCharacters(shown)
  }
}

function pinsInUri(value: string): readonly string[] {
  return [...value.matchAll(PIN_IN_URI)].flatMap(([, pin = '']) => {
    try {
      return [pin, decodeURIComponent(pin)]
    } catch {
      return [pin]
    }
  })
}

/** One line of at most this many characters. */
export function oneLine(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}
