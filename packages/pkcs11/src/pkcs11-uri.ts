import { TokenError } from './token-error.ts'

/** The attributes of an RFC 7512 URI that the signer uses. */
export interface Pkcs11Uri {
  readonly token?: string
  readonly serial?: string
  readonly manufacturer?: string
  readonly model?: string
  readonly slotId?: string
  readonly object?: string
  readonly id?: Buffer
  readonly modulePath?: string
  readonly pinSource?: string
  readonly pinValue?: string
}

const PATH_NAMES = {
  token: 'token',
  serial: 'serial',
  manufacturer: 'manufacturer',
  model: 'model',
  'slot-id': 'slotId',
  object: 'object',
} as const
const QUERY_NAMES = {
  'module-path': 'modulePath',
  'pin-source': 'pinSource',
  'pin-value': 'pinValue',
} as const
/** They describe a slot or library that is found by other attributes. */
const IGNORED = ['slot-description', 'slot-manufacturer', 'module-name']
/** Each of these selects the key together with its certificate. */
const TYPES = ['private', 'cert', 'public']

/**
 * Parses a `pkcs11:` URI.
 *
 * Unknown path attributes are rejected, because ignoring one could select another key.
 *
 * @throws {TokenError} The URI is invalid. The message names the attribute, never its value: it may be a PIN.
 */
export function parsePkcs11Uri(uri: string): Pkcs11Uri {
  if (!/^pkcs11:/i.test(uri)) throw invalid('does not begin with pkcs11:')
  const [path = '', query = '', ...more] = uri.slice('pkcs11:'.length).split('?')
  if (more.length > 0) throw invalid('has more than one question mark')
  const seen = new Set<string>()
  const read: Record<string, string | Buffer> = {}
  for (const [name, value] of attributes(path, ';', seen)) readPathAttribute(name, value, read)
  for (const [name, value] of attributes(query, '&', seen)) {
    const known = QUERY_NAMES[name as keyof typeof QUERY_NAMES]
    if (known !== undefined) read[known] = decodeText(name, value)
  }
  return read
}

function readPathAttribute(
  name: string,
  value: string,
  read: Record<string, string | Buffer>,
): void {
  const known = PATH_NAMES[name as keyof typeof PATH_NAMES]
  if (known !== undefined) read[known] = decodeText(name, value)
  else if (name === 'id') read['id'] = decodeBytes(name, value)
  else if (name === 'type') {
    if (!TYPES.includes(value)) throw invalid(`has a type other than ${TYPES.join(', ')}`)
  } else if (!IGNORED.includes(name) && !name.startsWith('library-')) {
    throw invalid(`has an unknown attribute ${JSON.stringify(name.slice(0, 40))}`)
  }
}

function* attributes(text: string, separator: string, seen: Set<string>) {
  for (const part of text.split(separator).filter((each) => each !== '')) {
    const at = part.indexOf('=')
    const name = part.slice(0, at === -1 ? undefined : at)
    if (at === -1) throw invalid(`has an attribute without a value: ${JSON.stringify(name)}`)
    if (seen.has(name)) throw invalid(`has the attribute ${name} twice`)
    seen.add(name)
    yield [name, part.slice(at + 1)] as const
  }
}

function decodeBytes(name: string, value: string): Buffer {
  if (/%(?![0-9a-f]{2})/i.test(value)) throw invalid(`has an invalid percent-encoding in ${name}`)
  const pieces = value.match(/%[0-9a-f]{2}|[^%]+/gi) ?? []
  return Buffer.concat(
    pieces.map((piece) =>
      piece.startsWith('%') ? Buffer.from(piece.slice(1), 'hex') : Buffer.from(piece),
    ),
  )
}

function decodeText(name: string, value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decodeBytes(name, value))
  } catch (error) {
    if (error instanceof TokenError) throw error
    throw invalid(`is not valid UTF-8 in ${name}`)
  }
}

function invalid(what: string): TokenError {
  return new TokenError(`the uri in the configuration ${what}`, {
    hint: 'Write a URI as in RFC 7512, for example pkcs11:token=kube;id=%02',
  })
}
