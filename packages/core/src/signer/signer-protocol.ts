import type { SignatureScheme } from '../credential/signing-key.ts'
import { SignerResponseInvalidError } from '../errors/index.ts'
import { decodeBase64Bytes, encodeBase64 } from '../formats/base64.ts'
import { describeType, type Fields } from '../formats/plain-object.ts'
import type { Secret } from '../secret/secret.ts'

/** The only version of the protocol. */
export const SIGNER_API_VERSION = 'external-signer.authentication.k8s.io/v1alpha1'

/** The variable with the request that a signer was started for, as in the reference implementation. */
export const SIGNER_REQUEST_VARIABLE = 'EXTERNAL_SIGNER_PLUGIN_CONFIG'

/**
 * The variable with the file descriptor for further requests, one JSON object per line. An extension of kubecred.
 *
 * A signer may ignore it and exit after its answer.
 */
export const SIGNER_FD_VARIABLE = 'KUBECRED_SIGNER_FD'

/**
 * The variable with base64 of the message to sign, for signers that must hash it themselves. An extension of kubecred.
 *
 * The request of the specification has no field for it. Further requests have it as `message`.
 */
export const SIGNER_MESSAGE_VARIABLE = 'KUBECRED_SIGNER_MESSAGE'

/** The kinds of the specification, and those of the only published plugin (2020). */
export const SIGNER_KINDS = {
  specification: {
    certificateRequest: 'CertificateRequest',
    certificateResponse: 'CertificateResponse',
    signRequest: 'SignRequest',
    signResponse: 'SignResponse',
  },
  reference2020: {
    certificateRequest: 'Certificate',
    certificateResponse: 'ExternalPublicKey',
    signRequest: 'Sign',
    signResponse: 'ExternalSigner',
  },
} as const

/**
 * The kind of a line before the answer with an instruction for the user. An extension of kubecred.
 *
 * `{"apiVersion":…,"kind":"UserPrompt","prompt":"Touch the device"}`
 */
export const USER_PROMPT_KIND = 'UserPrompt'
/**
 * The kind of an error response of a long-running signer. An extension of kubecred. A signer that exits writes its
 * error to standard error.
 *
 * `{"apiVersion":…,"kind":"SignerError","message":"the device is locked"}`
 */
export const SIGNER_ERROR_KIND = 'SignerError'

/** Which kinds are used: those of the specification, or those of the only published plugin (2020). */
export type SignerProtocol = keyof typeof SIGNER_KINDS

/** All parameters of the auth-provider, as sent to the signer. */
export type SignerParameters = ReadonlyMap<string, Secret>

interface SignerDialect {
  readonly protocol: SignerProtocol
  readonly parameters: SignerParameters
}

/** What to sign, and how. */
interface ToSign {
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly message: Uint8Array
}

/** Encodes a request for the certificate as one line of JSON. It contains the PIN, so it is a secret. */
export function encodeCertificateRequest({ protocol, parameters }: SignerDialect): string {
  return JSON.stringify({
    apiVersion: SIGNER_API_VERSION,
    kind: SIGNER_KINDS[protocol].certificateRequest,
    configuration: configurationOf(parameters),
  })
}

/**
 * Encodes a request for a signature as one line of JSON. It contains the PIN, so it is a secret.
 *
 * @param withMessage Adds the message of the digest, which is not in the specification. Used for lines only; a request
 *   in a variable has the message in another variable.
 */
export function encodeSignRequest(
  { protocol, parameters }: SignerDialect,
  { scheme, digest, message }: ToSign,
  withMessage = false,
): string {
  return JSON.stringify({
    apiVersion: SIGNER_API_VERSION,
    kind: SIGNER_KINDS[protocol].signRequest,
    // Ed25519 hashes the message itself: Go passes the message as the digest.
    digest: encodeBase64(scheme === 'ed25519' ? message : digest),
    configuration: configurationOf(parameters),
    ...SIGNER_OPTIONS[scheme],
    ...(withMessage && { message: encodeBase64(message) }),
  })
}

/** Sorted by name, as Go encodes maps. */
function configurationOf(parameters: SignerParameters): Record<string, string> {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1))
  // fromEntries makes own properties, also of names such as `__proto__`.
  return Object.fromEntries(sorted.map(([name, value]) => [name, value.expose()]))
}

/** The options that Go's crypto/tls passes to a `crypto.Signer`: their type, and the options as JSON in a string. */
interface SignerOptions {
  readonly signerOptsType: string
  readonly signerOpts: string
}

/** Values of Go's `crypto.Hash`. */
const SHA256 = 5
const SHA384 = 6
const SHA512 = 7
const NONE = 0

const plain = (hash: number): SignerOptions => ({
  signerOptsType: 'crypto.Hash',
  signerOpts: String(hash),
})

/** A salt length of -1 means the length of the hash. */
const pss = (hash: number): SignerOptions => ({
  signerOptsType: '*rsa.PSSOptions',
  signerOpts: JSON.stringify({ SaltLength: -1, Hash: hash }),
})

const SIGNER_OPTIONS: Readonly<Record<SignatureScheme, SignerOptions>> = {
  rsa_pss_rsae_sha256: pss(SHA256),
  rsa_pss_rsae_sha384: pss(SHA384),
  rsa_pss_rsae_sha512: pss(SHA512),
  ecdsa_secp256r1_sha256: plain(SHA256),
  ecdsa_secp384r1_sha384: plain(SHA384),
  ecdsa_secp521r1_sha512: plain(SHA512),
  ed25519: plain(NONE),
}

/** What was requested from a signer: the field that its response must have. */
export type SignerPayload = 'certificate' | 'signature'

/** One message from a signer. */
export type SignerMessage =
  | { readonly is: 'answer'; readonly bytes: Uint8Array }
  /** An instruction for the user, followed by other messages. Unchanged from the signer: scrub it before showing it. */
  | { readonly is: 'prompt'; readonly text: string }
  /** An error instead of an answer. Also unchanged from the signer. */
  | { readonly is: 'failure'; readonly text: string }

/** What the response to a request must be. */
export interface ExpectedResponse {
  readonly payload: SignerPayload
  readonly protocol: SignerProtocol
  /** The program or socket, for messages. */
  readonly signer: string
}

/**
 * Reads one object from a signer.
 *
 * Unknown fields are ignored. The object is treated as a secret: errors show no part of it, except a kind that looks
 * like one.
 *
 * @throws {SignerResponseInvalidError} `ERR_SIGNER_RESPONSE_INVALID` with what was expected.
 */
export function readSignerMessage(sent: Fields, expected: ExpectedResponse): SignerMessage {
  const kind = expectedKind(expected)
  checkVersion(sent, expected)
  switch (sent['kind']) {
    case kind:
      return { is: 'answer', bytes: readBytes(sent, expected) }
    case USER_PROMPT_KIND:
      return { is: 'prompt', text: readText(sent, 'prompt', expected) }
    case SIGNER_ERROR_KIND:
      return { is: 'failure', text: readText(sent, 'message', expected) }
    default:
      throw wrong(expected, `${describeKind(sent['kind'])}, but ${kind} was expected`)
  }
}

/** Returns the kind that the answer must have. */
export function expectedKind({ payload, protocol }: ExpectedResponse): string {
  const { certificateResponse, signResponse } = SIGNER_KINDS[protocol]
  return payload === 'certificate' ? certificateResponse : signResponse
}

function checkVersion(sent: Fields, expected: ExpectedResponse): void {
  const got = sent['apiVersion']
  if (got === SIGNER_API_VERSION) return
  const isMissing = got === undefined || got === null || got === ''
  const what = isMissing ? 'without an apiVersion' : 'in another apiVersion'
  throw wrong(expected, `${what}, but ${SIGNER_API_VERSION} was expected`)
}

/** Names the kind if it looks like one: that of the other protocol is the most likely mistake. */
function describeKind(kind: unknown): string {
  if (kind === undefined || kind === null || kind === '') return 'without a kind'
  const isWord = typeof kind === 'string' && /^[A-Za-z]{1,40}$/.test(kind)
  return isWord ? `with the kind ${kind}` : 'with another kind'
}

function readBytes(sent: Fields, expected: ExpectedResponse): Uint8Array {
  const { payload } = expected
  const encoded = readText(sent, payload, expected)
  const bytes = decodeBase64Bytes(encoded)
  if (bytes === undefined) throw wrong(expected, `with a ${payload} that is not standard base64`)
  if (bytes.length === 0) throw wrong(expected, `with an empty ${payload}`)
  return bytes
}

function readText(sent: Fields, field: string, expected: ExpectedResponse): string {
  const value = Object.hasOwn(sent, field) ? sent[field] : undefined
  if (typeof value === 'string' && value !== '') return value
  if (value === undefined || value === '') {
    throw wrong(expected, `with an empty ${field}, but a string was expected`)
  }
  throw wrong(expected, `with ${describeType(value)} as ${field}, but a string was expected`)
}

function wrong(expected: ExpectedResponse, what: string): SignerResponseInvalidError {
  const { reference2020, specification } = SIGNER_KINDS
  const [other, value] =
    expected.protocol === 'specification' ? [reference2020, '2020'] : [specification, 'v1alpha1']
  const isOther = Object.values(other).some((kind) => what.startsWith(`with the kind ${kind},`))
  return new SignerResponseInvalidError(expected.signer, `answered ${what}`, {
    ...(isOther && { hint: `Set signerProtocol: "${value}" in the config of the auth-provider.` }),
  })
}
