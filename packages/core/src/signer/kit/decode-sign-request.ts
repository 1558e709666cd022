import { createHash } from 'node:crypto'
import type { SignatureScheme } from '../../credential/signing-key.ts'
import { SignRequestError } from '../../errors/index.ts'
import { parseJson } from '../../formats/json.ts'
import { describeType, type Fields, isFields } from '../../formats/plain-object.ts'
import { SIGNER_API_VERSION, SIGNER_KINDS } from '../signer-protocol.ts'

/**
 * Decodes a request of a client, in the protocol of the specification or of the 2020 plugin.
 *
 * @param message The message in base64, if it is not part of the request.
 * @throws {SignRequestError} `ERR_SIGN_REQUEST` with the name of the invalid field, never its value: the configuration
 *   may contain a PIN.
 */
export function decodeSignRequest(text: string, message?: string): SignerRequest {
  const fields = parse(text)
  if (fields['apiVersion'] !== SIGNER_API_VERSION) {
    throw new SignRequestError('apiVersion', `is not ${SIGNER_API_VERSION}`, {
      hint: 'Update the client or the signer: no other version exists.',
    })
  }
  const { is, kinds } = readKind(fields['kind'])
  const configuration = readConfiguration(fields['configuration'])
  if (is === 'certificate') return { is, kinds, configuration }
  const digest = readBytes(fields['digest'], 'digest')
  const scheme = schemeOf(fields, digest)
  const encodedMessage = 'message' in fields ? fields['message'] : message
  return {
    is,
    kinds,
    configuration,
    scheme,
    digest,
    message: scheme === 'ed25519' ? digest : readMessage(encodedMessage, digest, hashOf(scheme)),
  }
}

function parse(text: string): Fields {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    throw new SignRequestError('', `is not JSON: ${(cause as Error).message}`, { cause })
  }
  if (!isFields(value)) {
    throw new SignRequestError('', `is ${describeType(value)} instead of an object`)
  }
  return value
}

function readKind(kind: unknown): { is: SignerRequest['is']; kinds: SignerKinds } {
  for (const kinds of Object.values(SIGNER_KINDS)) {
    if (kind === kinds.certificateRequest) return { is: 'certificate', kinds }
    if (kind === kinds.signRequest) return { is: 'sign', kinds }
  }
  const { certificateRequest, signRequest } = SIGNER_KINDS.specification
  throw new SignRequestError('kind', `is neither ${certificateRequest} nor ${signRequest}`)
}

function readConfiguration(value: unknown): SignerConfiguration {
  if (!isFields(value)) {
    const what =
      value === undefined ? 'is missing' : `is ${describeType(value)} instead of an object`
    throw new SignRequestError('configuration', what)
  }
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string')
  if (wrong !== undefined) {
    const [name, each] = wrong
    const field = `configuration.${name.slice(0, 40)}`
    throw new SignRequestError(field, `is ${describeType(each)} instead of a string`, {
      hint: 'Put the value in quotes in the kubeconfig.',
    })
  }
  return value as SignerConfiguration
}

function readMessage(value: unknown, digest: Uint8Array, hash: string): Uint8Array | undefined {
  if (value === undefined) return undefined
  const message = readBytes(value, 'message')
  if (!createHash(hash).update(message).digest().equals(digest)) {
    throw new SignRequestError('message', 'does not match the digest')
  }
  return message
}

function readBytes(value: unknown, field: string): Uint8Array {
  if (typeof value !== 'string') {
    const what = value === undefined ? 'is missing' : `is ${describeType(value)} instead of base64`
    throw new SignRequestError(field, what)
  }
  const bytes = decodeBytes(value)
  if (bytes === undefined) throw new SignRequestError(field, 'is not base64')
  if (bytes.length === 0) throw new SignRequestError(field, 'is empty')
  return bytes
}

/** Go's number of each hash, the length of its digest, and the TLS 1.3 schemes that use it. */
const HASHES = [
  { go: 5, bytes: 32, name: 'sha256', ecdsa: 'ecdsa_secp256r1_sha256', pss: 'rsa_pss_rsae_sha256' },
  { go: 6, bytes: 48, name: 'sha384', ecdsa: 'ecdsa_secp384r1_sha384', pss: 'rsa_pss_rsae_sha384' },
  { go: 7, bytes: 64, name: 'sha512', ecdsa: 'ecdsa_secp521r1_sha512', pss: 'rsa_pss_rsae_sha512' },
] as const

type Hash = (typeof HASHES)[number]

/** The default of the specification. */
const RSA_PSS = '*rsa.PSSOptions'
const PLAIN_HASH = 'crypto.Hash'
/** Go's `rsa.PSSSaltLengthEqualsHash`, and `rsa.PSSSaltLengthAuto`: TLS 1.3 allows only this length. */
const HASH_LENGTH_SALTS: readonly unknown[] = [-1, 0]

/**
 * Returns the signature scheme of a request, which has the options that Go's crypto/tls passes to a `crypto.Signer`.
 *
 * @throws {SignRequestError} `ERR_SIGN_REQUEST` if TLS 1.3 does not allow it for client certificates.
 */
function schemeOf(fields: Fields, digest: Uint8Array): SignatureScheme {
  const type = fields['signerOptsType'] ?? RSA_PSS
  if (type !== RSA_PSS && type !== PLAIN_HASH) {
    throw new SignRequestError('signerOptsType', `is neither ${RSA_PSS} nor ${PLAIN_HASH}`)
  }
  const options = readOptions(fields['signerOpts'])
  return type === RSA_PSS ? pssScheme(options, digest) : plainScheme(options, digest)
}

/** Returns the node:crypto name of the hash of a scheme. Ed25519 needs none. */
function hashOf(scheme: Exclude<SignatureScheme, 'ed25519'>): Hash['name'] {
  return HASHES.find(({ ecdsa, pss }) => ecdsa === scheme || pss === scheme)?.name ?? 'sha256'
}

function pssScheme(options: unknown, digest: Uint8Array): SignatureScheme {
  if (options !== undefined && !isFields(options)) {
    throw new SignRequestError('signerOpts', `is not an object, as ${RSA_PSS} requires`)
  }
  const { Hash = 0, SaltLength = 0 } = options ?? {}
  // Go leaves it at 0 if the length of the digest determines it.
  const hash = Hash === 0 ? HASHES.find(({ bytes }) => bytes === digest.length) : hashFor(Hash)
  if (hash === undefined) throw wrongLengthError(digest)
  checkLength(hash, digest)
  if (!HASH_LENGTH_SALTS.includes(SaltLength) && SaltLength !== hash.bytes) {
    throw new SignRequestError('signerOpts', 'asks for a salt that is not as long as the hash')
  }
  return hash.pss
}

/**
 * Returns the scheme for an elliptic-curve key. With an RSA key the same options mean PKCS#1 v1.5, which TLS 1.3 does
 * not allow; that is checked where the key is known.
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
  if (digest.length !== bytes) throw wrongLengthError(digest)
}

function wrongLengthError({ length }: Uint8Array): SignRequestError {
  return new SignRequestError('digest', `has ${length} bytes, which does not match its hash`)
}

/** Parses the options, which are JSON in a string. Undefined if they are missing. */
function readOptions(value: unknown): unknown {
  if (value === undefined) return undefined
  if (typeof value !== 'string') {
    throw new SignRequestError('signerOpts', 'is not a string with JSON')
  }
  try {
    return parseJson(value)
  } catch (cause) {
    throw new SignRequestError('signerOpts', 'is not JSON', { cause })
  }
}

/**
 * Decodes standard base64 with full padding into bytes, as strictly as Go does.
 *
 * Returns undefined for anything else.
 */
function decodeBytes(encoded: string): Uint8Array | undefined {
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes : undefined
}

/** The kinds of the protocol that a request uses, and so of its answer. */
export type SignerKinds = (typeof SIGNER_KINDS)[keyof typeof SIGNER_KINDS]

/**
 * The `config` map of the user's auth-provider in the kubeconfig.
 *
 * @experimental
 */
export type SignerConfiguration = Readonly<Record<string, string>>

interface BaseRequest {
  readonly kinds: SignerKinds
  readonly configuration: SignerConfiguration
}

/** A request for the certificate. */
interface CertificateRequest extends BaseRequest {
  readonly is: 'certificate'
}

/** A request for a signature. */
export interface SignRequest extends BaseRequest {
  readonly is: 'sign'
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly message: Uint8Array | undefined
}

/** A request to a signer. */
export type SignerRequest = CertificateRequest | SignRequest
