import { isAbsolute } from 'node:path'
import { type PinWish, readPinWish } from './pin-wish.ts'
import { type Pkcs11Uri, parsePkcs11Uri } from './pkcs11-uri.ts'
import { TokenError } from './token-error.ts'

/** Which token is meant: everything that is set must fit. */
export interface TokenWish {
  readonly slotId?: bigint | undefined
  readonly label?: string | undefined
  readonly serial?: string | undefined
  readonly manufacturer?: string | undefined
  readonly model?: string | undefined
}

/** Which key, and certificate beside it. */
export interface ObjectWish {
  /** CKA_ID. */
  readonly id?: Buffer | undefined
  /** CKA_LABEL. */
  readonly label?: string | undefined
}

/** The configuration of one user, checked. */
export interface Wish {
  readonly library: string
  readonly token: TokenWish
  readonly object: ObjectWish
  readonly pin: PinWish
  /** What is worth saying, once. */
  readonly warnings: readonly string[]
}

export type Configuration = Readonly<Record<string, string>>

/** The names this signer knows in the `config` map. Others belong to the client and are left alone. */
export const NAMES = [
  'pathLib',
  'slotId',
  'tokenLabel',
  'tokenSerial',
  'objectId',
  'objectIdHex',
  'objectLabel',
  'uri',
  'pin',
  'pinEnv',
  'pinFile',
] as const

/**
 * Reads the `config` map of the auth-provider.
 *
 * @throws {TokenError} Names the field and what belongs there.
 */
export function readConfiguration(configuration: Configuration): Wish {
  checkOptionNames(configuration)
  const uri = configuration['uri'] === undefined ? {} : parsePkcs11Uri(configuration['uri'])
  return {
    library: readLibrary(configuration, uri),
    token: {
      slotId: readSlot(agree(configuration, 'slotId', uri.slotId, 'slot-id')),
      label: agree(configuration, 'tokenLabel', uri.token, 'token'),
      serial: agree(configuration, 'tokenSerial', uri.serial, 'serial'),
      manufacturer: uri.manufacturer,
      model: uri.model,
    },
    object: {
      id: readId(configuration, uri),
      label: agree(configuration, 'objectLabel', uri.object, 'object'),
    },
    pin: readPinWish(configuration, uri),
    warnings:
      uri.pinValue === undefined
        ? []
        : [
            'the URI in the kubeconfig has a PIN in it: better use pin-source or KUBECRED_PKCS11_PIN',
          ],
  }
}

/** A misspelt name would be ignored silently, and another key might be used. */
function checkOptionNames(configuration: Configuration): void {
  for (const name of Object.keys(configuration)) {
    const meant = NAMES.find(
      (each) => each.toLowerCase() === name.toLowerCase().replace(/[-_]/g, ''),
    )
    if (meant === undefined || meant === name) continue
    throw new TokenError(`the configuration has ${JSON.stringify(name)}, which nobody reads`, {
      hint: `Call it ${meant}.`,
    })
  }
}

function readLibrary(configuration: Configuration, uri: Pkcs11Uri): string {
  const path = agree(configuration, 'pathLib', uri.modulePath, 'module-path')
  if (path === undefined || path === '') {
    throw new TokenError('pathLib is missing: which library knows the token?', {
      hint: 'Add pathLib with the path of the PKCS#11 library; kubecred-pkcs11 list shows those that are installed.',
    })
  }
  if (!isAbsolute(path)) {
    throw new TokenError(`pathLib is not absolute: ${JSON.stringify(path)}`, {
      hint: 'Begin the path with a slash: libraries are never searched for.',
    })
  }
  return path
}

function readSlot(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  if (/^(?:\d{1,20}|0x[0-9a-f]{1,16})$/i.test(text)) return BigInt(text)
  throw new TokenError(`slotId is no number: ${JSON.stringify(text.slice(0, 40))}`, {
    hint: 'Write the number that kubecred-pkcs11 list shows, or better tokenLabel: slot numbers change.',
  })
}

const MOST_ID_BYTES = 255

/** The reference plugin's objectId is a decimal number and one byte: "16" is 0x10. */
function readId(configuration: Configuration, uri: Pkcs11Uri): Buffer | undefined {
  const { objectId, objectIdHex } = configuration
  const ids: Buffer[] = uri.id === undefined ? [] : [uri.id]
  if (objectId !== undefined) {
    if (!/^\d{1,3}$/.test(objectId) || Number(objectId) > 255) {
      throw new TokenError('objectId is no number from 0 to 255', {
        hint: 'Write longer ids in hexadecimal as objectIdHex.',
      })
    }
    ids.push(Buffer.of(Number(objectId)))
  }
  if (objectIdHex !== undefined) {
    const digits = objectIdHex.replaceAll(':', '')
    if (!/^(?:[0-9a-f]{2})+$/i.test(digits) || digits.length > 2 * MOST_ID_BYTES) {
      throw new TokenError('objectIdHex is no hexadecimal number of whole bytes', {
        hint: 'Write two digits for each byte, such as "02" or "a1b2".',
      })
    }
    ids.push(Buffer.from(digits, 'hex'))
  }
  const [first, ...others] = ids
  if (others.some((other) => first?.equals(other) === false)) {
    throw new TokenError('objectId, objectIdHex and uri name different ids', {
      hint: 'Leave one of them; note that objectId is decimal: "16" is 10 in hexadecimal.',
    })
  }
  return first
}

/** One thing may be said in two places, if they say the same. */
function agree(
  configuration: Configuration,
  name: (typeof NAMES)[number],
  inUri: string | undefined,
  attribute: string,
): string | undefined {
  const own = configuration[name]
  if (own !== undefined && inUri !== undefined && own !== inUri) {
    throw new TokenError(`${name} and ${attribute} of the uri say different things`, {
      hint: 'Leave one of them.',
    })
  }
  return own ?? inUri
}
