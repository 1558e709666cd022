import { isAbsolute } from 'node:path'
import { type PinSettings, readPinSettings } from './pin-settings.ts'
import { type Pkcs11Uri, parsePkcs11Uri } from './pkcs11-uri.ts'
import { TokenError } from './token-error.ts'

/** Selects a token: every field that is set must match. */
export interface TokenFilter {
  readonly slotId?: bigint | undefined
  readonly label?: string | undefined
  readonly serial?: string | undefined
  readonly manufacturer?: string | undefined
  readonly model?: string | undefined
}

/** Selects a key and its certificate: every field that is set must match. */
export interface ObjectFilter {
  /** CKA_ID. */
  readonly id?: Buffer | undefined
  /** CKA_LABEL. */
  readonly label?: string | undefined
}

/** The checked configuration of one user. */
export interface SignerSettings {
  readonly library: string
  readonly token: TokenFilter
  readonly object: ObjectFilter
  readonly pin: PinSettings
  /** Warnings to print once. */
  readonly warnings: readonly string[]
}

/** The `config` map of the auth-provider, as the client sends it. */
export type Configuration = Readonly<Record<string, string>>

/** The names that this signer reads from the `config` map. Other names belong to the client and are ignored. */
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
 * Checks the `config` map of the auth-provider and returns it as settings.
 *
 * @throws {TokenError} A field is missing or invalid; the message names it.
 */
export function readConfiguration(configuration: Configuration): SignerSettings {
  checkOptionNames(configuration)
  const uri = configuration['uri'] === undefined ? {} : parsePkcs11Uri(configuration['uri'])
  return {
    library: readLibrary(configuration, uri),
    token: {
      slotId: readSlot(readEither(configuration, 'slotId', uri.slotId, 'slot-id')),
      label: readEither(configuration, 'tokenLabel', uri.token, 'token'),
      serial: readEither(configuration, 'tokenSerial', uri.serial, 'serial'),
      manufacturer: uri.manufacturer,
      model: uri.model,
    },
    object: {
      id: readId(configuration, uri),
      label: readEither(configuration, 'objectLabel', uri.object, 'object'),
    },
    pin: readPinSettings(configuration, uri),
    warnings:
      uri.pinValue === undefined
        ? []
        : [
            'the uri in the kubeconfig contains a PIN: use pin-source or KUBECRED_PKCS11_PIN instead',
          ],
  }
}

/** Rejects misspelt names: they would be ignored silently, and another key might be used. */
function checkOptionNames(configuration: Configuration): void {
  for (const name of Object.keys(configuration)) {
    const meant = NAMES.find(
      (each) => each.toLowerCase() === name.toLowerCase().replace(/[-_]/g, ''),
    )
    if (meant === undefined || meant === name) continue
    throw new TokenError(`the configuration has an unknown name ${JSON.stringify(name)}`, {
      hint: `Write ${meant} instead.`,
    })
  }
}

function readLibrary(configuration: Configuration, uri: Pkcs11Uri): string {
  const path = readEither(configuration, 'pathLib', uri.modulePath, 'module-path')
  if (path === undefined || path === '') {
    throw new TokenError('pathLib is missing', {
      hint: 'Add pathLib with the path of the PKCS#11 library; kubecred-pkcs11 list shows the installed ones.',
    })
  }
  if (!isAbsolute(path)) {
    throw new TokenError(`pathLib is not absolute: ${JSON.stringify(path)}`, {
      hint: 'Write the full path of the library: it is not searched for.',
    })
  }
  return path
}

function readSlot(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  if (/^(?:\d{1,20}|0x[0-9a-f]{1,16})$/i.test(text)) return BigInt(text)
  throw new TokenError(`slotId is not a number: ${JSON.stringify(text.slice(0, 40))}`, {
    hint: 'Write the number that kubecred-pkcs11 list shows, or use tokenLabel: slot numbers change.',
  })
}

const MAX_ID_BYTES = 255

/** Reads the id of the key. The reference plugin's objectId is one byte as a decimal number: "16" is 0x10. */
function readId(configuration: Configuration, uri: Pkcs11Uri): Buffer | undefined {
  const { objectId, objectIdHex } = configuration
  const ids: Buffer[] = uri.id === undefined ? [] : [uri.id]
  if (objectId !== undefined) {
    if (!/^\d{1,3}$/.test(objectId) || Number(objectId) > 255) {
      throw new TokenError('objectId is not a number from 0 to 255', {
        hint: 'Write a longer id in hexadecimal as objectIdHex.',
      })
    }
    ids.push(Buffer.of(Number(objectId)))
  }
  if (objectIdHex !== undefined) {
    const digits = objectIdHex.replaceAll(':', '')
    if (!/^(?:[0-9a-f]{2})+$/i.test(digits) || digits.length > 2 * MAX_ID_BYTES) {
      throw new TokenError('objectIdHex is not a hexadecimal number of whole bytes', {
        hint: 'Write two digits for each byte, such as "02" or "a1b2".',
      })
    }
    ids.push(Buffer.from(digits, 'hex'))
  }
  const [first, ...others] = ids
  if (others.some((other) => first?.equals(other) === false)) {
    throw new TokenError('objectId, objectIdHex and uri name different ids', {
      hint: 'Remove all but one of them; objectId is decimal: "16" is 10 in hexadecimal.',
    })
  }
  return first
}

/** Reads a value that may be set by name, in the URI, or in both if they are equal. */
function readEither(
  configuration: Configuration,
  name: (typeof NAMES)[number],
  inUri: string | undefined,
  attribute: string,
): string | undefined {
  const own = configuration[name]
  if (own !== undefined && inUri !== undefined && own !== inUri) {
    throw new TokenError(`${name} and ${attribute} of the uri differ`, {
      hint: 'Remove one of them.',
    })
  }
  return own ?? inUri
}
