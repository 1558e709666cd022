import { SIGNER_PATH_PARAMETERS } from '../kubeconfig/external-signer-config.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import type { SignerParameters } from '../signer/signer-protocol.ts'

const MARK = '[secret]'
/** Parameters that name the program or socket of the signer, which every message shows. */
const PLACES: readonly string[] = [...Object.keys(SIGNER_PATH_PARAMETERS), 'signerProtocol']
/** Parameters whose values are hidden even if they are short, such as a PIN of four digits. */
const PRIVATE = /pin|puk|pass|secret|credential/i
/** Parameters that are hidden whatever the rest of their name says. */
const SENSITIVE = /auth|bearer|cookie|session|token|private|access|signature|seed/i
/** Parameters that say where a secret is: `pinSource: env` must not hide every "env". */
const LOCATION_NAME = /(?:env|file|path|source|label)$/i
/** Parameters that identify a device or a key. Messages are useless without them. */
const DEVICE_NAMES = /^(?:pathLib|slotId|objectId|objectIdHex|objectLabel|tokenLabel|tokenSerial)$/
/** Last words of parameter names that say which key is used and where it is: `keyId`, `aws_region`. */
const PUBLIC_WORDS: readonly string[] = [
  ...['account', 'alias', 'algorithm', 'arn', 'cluster', 'endpoint', 'env', 'file', 'folder'],
  ...['host', 'id', 'label', 'lib', 'library', 'location', 'module', 'name', 'path', 'port'],
  ...['profile', 'project', 'provider', 'region', 'ring', 'serial', 'server', 'slot', 'source'],
  ...['tenant', 'type', 'uri', 'url', 'user', 'username', 'vault', 'version', 'zone'],
]
/** Values that can only be a location: an ARN, an absolute path, a Google Cloud resource. */
const LOCATION = /^(?:arn:[\w-]*:[\w:/+=,.@-]+|\/[\w./ -]+|projects\/[\w./-]+)$/
/** A PEM block, a URL with a password or a query, or twenty mixed letters and digits, like a key. */
const SECRET_LOOK =
  /-----BEGIN|:\/\/[^/]*@|:\/\/.*\?|(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-z0-9]{20}/i
/** RFC 7512: a PKCS#11 URI can contain a PIN. */
const PIN_IN_URI = /pin-value=([^&;#\s"']+)/gi
/** `scrub` does not hide shorter values. */
const MIN_SCRUBBED_LENGTH = 6

/** Removes the secrets of one signer from a text. */
export type SignerScrubber = (text: string) => string

/**
 * Returns a function that removes secrets and control characters from the output of a signer.
 *
 * Values of parameters are hidden unless the name or the value shows that they are not secret. The error of a cloud
 * signer names its key, region and profile, and would be useless without them.
 *
 * @param pins More PINs, from environment variables.
 */
export function signerScrubber(
  parameters: SignerParameters,
  pins: readonly string[] = [],
): SignerScrubber {
  const entries = [...parameters].filter(
    ([name]) => !PLACES.includes(name) && !DEVICE_NAMES.test(name),
  )
  const values = entries
    .filter(([name, value]) => !isShown(name, value.expose()))
    .map(([, value]) => value.expose())
  const hidden = [
    ...pins,
    ...entries.flatMap(([name, value]) =>
      PRIVATE.test(name) && !LOCATION_NAME.test(name) ? [value.expose()] : [],
    ),
    ...entries.flatMap(([, value]) => pinsInUri(value.expose())),
  ]
  const known = [...values, ...hidden].map((value) => new Secret(value))
  const short = hidden
    .filter(({ length }) => length > 0 && length < MIN_SCRUBBED_LENGTH)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    let shown = scrub(text, known)
    for (const value of short) shown = shown.replaceAll(value, MARK)
    return showControlCharacters(shown)
  }
}

/** If in doubt, a value is hidden. */
function isShown(name: string, value: string): boolean {
  if (PRIVATE.test(name) || SENSITIVE.test(name))
    return LOCATION_NAME.test(name) && LOCATION.test(value)
  if (SECRET_LOOK.test(value)) return false
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return PUBLIC_WORDS.includes((words.at(-1) ?? '').toLowerCase()) || LOCATION.test(value)
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

/** Returns the text as one line of at most `maxLength` characters. */
export function oneLine(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line
}
