import { SIGNER_PATH_PARAMETERS } from '../kubeconfig/external-signer-config.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import type { SignerParameters } from '../signer/signer-protocol.ts'

const MARK = '[secret]'
/** Parameters that say where the signer is: every message names it. */
const PLACES: readonly string[] = [...Object.keys(SIGNER_PATH_PARAMETERS), 'signerProtocol']
/** Parameters whose value is hidden however short it is: a PIN has four digits and more. */
const PRIVATE = /pin|puk|pass|secret|credential/i
/** Parameters that are never shown for what else their name says. */
const SENSITIVE = /auth|bearer|cookie|session|token|private|access|signature|seed/i
/** Parameters that say where such a thing is: `pinSource: env` is no reason to hide every "env". */
const WHEREABOUTS = /(?:env|file|path|source|label)$/i
/** Parameters that name a device or a key: without them no message helps. */
const NAMES = /^(?:pathLib|slotId|objectId|objectIdHex|objectLabel|tokenLabel|tokenSerial)$/
/** Last words of names that say which key is meant and where: `keyId`, `aws_region`. */
const PUBLIC_WORDS: readonly string[] = [
  ...['account', 'alias', 'algorithm', 'arn', 'cluster', 'endpoint', 'env', 'file', 'folder'],
  ...['host', 'id', 'label', 'lib', 'library', 'location', 'module', 'name', 'path', 'port'],
  ...['profile', 'project', 'provider', 'region', 'ring', 'serial', 'server', 'slot', 'source'],
  ...['tenant', 'type', 'uri', 'url', 'user', 'username', 'vault', 'version', 'zone'],
]
/** Values that can only be the place of something: an ARN, an absolute path, a resource of Google Cloud. */
const PLACE = /^(?:arn:[\w-]*:[\w:/+=,.@-]+|\/[\w./ -]+|projects\/[\w./-]+)$/
/** A PEM block, a URL with a password or a query, or twenty letters and digits in a row, as keys have them. */
const SECRET_LOOK =
  /-----BEGIN|:\/\/[^/]*@|:\/\/.*\?|(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-z0-9]{20}/i
/** RFC 7512 lets a URI carry a PIN. */
const PIN_IN_URI = /pin-value=([^&;#\s"']+)/gi
/** The scrubber leaves shorter ones alone. */
const SHORTEST_KNOWN = 6

/** Takes what is secret about one signer out of texts. */
export type SignerScrubber = (text: string) => string

/**
 * Makes the function that cleans what a signer said, for people: without secrets and control characters.
 *
 * Parameters are hidden unless their name, or their value, shows that they are no secret: a signer of a cloud fails with
 * the key, the region and the profile in its message, and without them it says nothing.
 *
 * @param pins Further PINs, from variables.
 */
export function signerScrubber(
  parameters: SignerParameters,
  pins: readonly string[] = [],
): SignerScrubber {
  const entries = [...parameters].filter(([name]) => !PLACES.includes(name) && !NAMES.test(name))
  const values = entries
    .filter(([name, value]) => !isShown(name, value.expose()))
    .map(([, value]) => value.expose())
  const hidden = [
    ...pins,
    ...entries.flatMap(([name, value]) =>
      PRIVATE.test(name) && !WHEREABOUTS.test(name) ? [value.expose()] : [],
    ),
    ...entries.flatMap(([, value]) => pinsInUri(value.expose())),
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

/** In doubt, no. */
function isShown(name: string, value: string): boolean {
  if (PRIVATE.test(name) || SENSITIVE.test(name)) return WHEREABOUTS.test(name) && PLACE.test(value)
  if (SECRET_LOOK.test(value)) return false
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return PUBLIC_WORDS.includes((words.at(-1) ?? '').toLowerCase()) || PLACE.test(value)
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
