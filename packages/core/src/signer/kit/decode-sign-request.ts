import { createHash } from 'node:crypto'
import type { SignatureScheme } from '../../credential/signing-key.ts'
import { SignRequestError } from '../../errors/index.ts'
import { parseJson } from '../../formats/json.ts'
import { describeType, type Fields, isFields } from '../../formats/plain-object.ts'
import { SIGNER_API_VERSION, SIGNER_KINDS } from '../signer-protocol.ts'

/**
 * Reads one request of a client, in the words of the specification or of the plugin of 2020.
 *
 * @param message The message in base64 where it came beside the request, and not in it.
 * @throws {SignRequestError} Names the field, never its value: the configuration may hold a PIN.
 */
export function decodeSignRequest(text: string, message?: string): AskedOfSigner {
  const fields = parse(text)
  if (fields['apiVersion'] !== SIGNER_API_VERSION) {
    throw new SignRequestError('apiVersion', `is not ${SIGNER_API_VERSION}`, {
      hint: 'Update the client or the signer: there is only this version.',
    })
  }
  const { is, kinds } = readKind(fields['kind'])
  const configuration = readConfiguration(fields['configuration'])
  if (is === 'certificate') return { is, kinds, configuration }
  const digest = readBytes(fields['digest'], 'digest')
  const scheme = schemeOf(fields, digest)
  const beside = 'message' in fields ? fields['message'] : message
  return {
    is,
    kinds,
    configuration,
    scheme,
    digest,
    message: scheme === 'ed25519' ? digest : readMessage(beside, digest, hashOf(scheme)),
  }
}

function parse(text: string): Fields {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    throw new SignRequestError('', `is no JSON: ${(cause as Error).message}`, { cause })
  }
  if (!isFields(value)) {
    throw new SignRequestError('', `is ${describeType(value)} where an object belongs`)
  }
  return value
}

function readKind(kind: unknown): { is: AskedOfSigner['is']; kinds: SignerKinds } {
  for (const kinds of Object.values(SIGNER_KINDS)) {
    if (kind === kinds.certificateRequest) return { is: 'certificate', kinds }
    if (kind === kinds.signRequest) return { is: 'sign', kinds }
  }
  const { certificateRequest, signRequest } = SIGNER_KINDS.specification
  throw new SignRequestError('kind', `is neither ${certificateRequest} nor ${signRequest}`)
}

function readConfiguration(value: unknown): SignerConfiguration {
  if (!isFields(value)) {
    const what = value === undefined ? 'is missing' : `is ${describeType(value)}`
    throw new SignRequestError('configuration', `${what} where an object belongs`)
  }
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string')
  if (wrong !== undefined) {
    const [name, each] = wrong
    const field = `configuration.${name.slice(0, 40)}`
    throw new SignRequestError(field, `is ${describeType(each)} where text belongs`, {
      hint: 'Put the value in quotes in the kubeconfig.',
    })
  }
  return value as SignerConfiguration
}

function readMessage(value: unknown, digest: Uint8Array, hash: string): Uint8Array | undefined {
  if (value === undefined) return undefined
  const message = readBytes(value, 'message')
  if (!createHash(hash).update(message).digest().equals(digest)) {
    throw new SignRequestError('message', 'has another digest than the one beside it')
  }
  return message
}

function readBytes(value: unknown, field: string): Uint8Array {
  if (typeof value !== 'string') {
    const what = value === undefined ? 'is missing' : `is ${describeType(value)}`
    throw new SignRequestError(field, `${what} where base64 belongs`)
  }
  const bytes = decodeBytes(value)
  if (bytes === undefined) throw new SignRequestError(field, 'is no base64')
  if (bytes.length === 0) throw new SignRequestError(field, 'is empty')
  return bytes
}

/** Go's number of a hash, how long its digest is, and the schemes of TLS 1.3 that use it. */
const HASHES = [
  { go: 5, bytes: 32, name: 'sha256', ecdsa: 'ecdsa_secp256r1_sha256', pss: 'rsa_pss_rsae_sha256' },
  { go: 6, bytes: 48, name: 'sha384', ecdsa: 'ecdsa_secp384r1_sha384', pss: 'rsa_pss_rsae_sha384' },
  { go: 7, bytes: 64, name: 'sha512', ecdsa: 'ecdsa_secp521r1_sha512', pss: 'rsa_pss_rsae_sha512' },
] as const

type Hash = (typeof HASHES)[number]

/** The specification's default. */
const RSA_PSS = '*rsa.PSSOptions'
const PLAIN_HASH = 'crypto.Hash'
/** Go's `rsa.PSSSaltLengthEqualsHash`, and `rsa.PSSSaltLengthAuto`: TLS 1.3 leaves only one length to choose. */
const AS_LONG_AS_THE_HASH: readonly unknown[] = [-1, 0]

/**
 * Finds the signature scheme of a request: clients send what Go's crypto/tls would tell a `crypto.Signer`.
 *
 * @throws {SignRequestError} When it is none that TLS 1.3 knows for client certificates.
 */
function schemeOf(fields: Fields, digest: Uint8Array): SignatureScheme {
  const type = fields['signerOptsType'] ?? RSA_PSS
  if (type !== RSA_PSS && type !== PLAIN_HASH) {
    throw new SignRequestError('signerOptsType', `is neither ${RSA_PSS} nor ${PLAIN_HASH}`)
  }
  const options = readOptions(fields['signerOpts'])
  return type === RSA_PSS ? pssScheme(options, digest) : plainScheme(options, digest)
}

/** The hash of a scheme, by its name in node:crypto. Ed25519 has none of its own. */
function hashOf(scheme: Exclude<SignatureScheme, 'ed25519'>): Hash['name'] {
  return HASHES.find(({ ecdsa, pss }) => ecdsa === scheme || pss === scheme)?.name ?? 'sha256'
}

function pssScheme(options: unknown, digest: Uint8Array): SignatureScheme {
  if (options !== undefined && !isFields(options)) {
    throw new SignRequestError('signerOpts', `is no object, as ${RSA_PSS} has it`)
  }
  const { Hash = 0, SaltLength = 0 } = options ?? {}
  // Go leaves it at 0 where the digest says enough.
  const hash = Hash === 0 ? HASHES.find(({ bytes }) => bytes === digest.length) : hashFor(Hash)
  if (hash === undefined) throw ofWrongLength(digest)
  checkLength(hash, digest)
  if (!AS_LONG_AS_THE_HASH.includes(SaltLength) && SaltLength !== hash.bytes) {
    throw new SignRequestError('signerOpts', 'asks for a salt that is not as long as the hash')
  }
  return hash.pss
}

/**
 * For a key on an elliptic curve. For an RSA key the same options mean PKCS#1 v1.5, which TLS 1.3 does not allow: whoever
 * knows the key refuses them.
 */
function plainScheme(options: unknown, digest: Uint8Array): SignatureScheme {
  if (options === 0) return 'ed25519'
  const hash = hashFor(options)
  checkLength(hash, digest)
  return hash.ecdsa
}

function hashFor(number: unknown): Hash {
  const hash = HASHES.find(({ go }) => go === number)
  if (hash !== undefined) return hash
  throw new SignRequestError(
    'signerOpts',
    'names a hash other than SHA-256 (5), SHA-384 (6) and SHA-512 (7)',
  )
}

function checkLength({ bytes }: Hash, digest: Uint8Array): void {
  if (digest.length !== bytes) throw ofWrongLength(digest)
}

function ofWrongLength({ length }: Uint8Array): SignRequestError {
  return new SignRequestError('digest', `has ${length} bytes, and its hash another number`)
}

/** It is JSON inside of a text. Undefined when it is left out. */
function readOptions(value: unknown): unknown {
  if (value === undefined) return undefined
  if (typeof value !== 'string') {
    throw new SignRequestError('signerOpts', 'is no text with JSON in it')
  }
  try {
    return parseJson(value)
  } catch (cause) {
    throw new SignRequestError('signerOpts', 'holds no JSON', { cause })
  }
}

/** Decodes standard base64 with full padding into bytes, as strictly as Go does. Undefined for anything else. */
function decodeBytes(encoded: string): Uint8Array | undefined {
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes : undefined
}

/** The words of a request, and so of its answer. */
export type SignerKinds = (typeof SIGNER_KINDS)[keyof typeof SIGNER_KINDS]

/** The `config` map of the user's auth-provider, as it stands in the kubeconfig. */
export type SignerConfiguration = Readonly<Record<string, string>>

interface Asked {
  readonly kinds: SignerKinds
  readonly configuration: SignerConfiguration
}

/** A client wants the certificate. */
interface AskedCertificate extends Asked {
  readonly is: 'certificate'
}

/** A client wants a signature. */
export interface AskedSignature extends Asked {
  readonly is: 'sign'
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly message: Uint8Array | undefined
}

/** What a client can ask of a signer. */
export type AskedOfSigner = AskedCertificate | AskedSignature
