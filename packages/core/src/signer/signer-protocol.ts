import type { SignatureScheme } from '../credential/signing-key.ts'
import { SignerResponseInvalidError } from '../errors/index.ts'
import { decodeBytes, encodeBase64 } from '../formats/base64.ts'
import { describeType, type Fields } from '../formats/plain-object.ts'
import type { Secret } from '../secret/secret.ts'

/** The only version there is. */
export const SIGNER_API_VERSION = 'external-signer.authentication.k8s.io/v1alpha1'

/** Where a signer finds the request it was started for: the variable of the reference implementation. */
export const SIGNER_REQUEST_VARIABLE = 'EXTERNAL_SIGNER_PLUGIN_CONFIG'

/**
 * Ours: the descriptor from which a signer may read further requests, one JSON object per line.
 *
 * A signer that ignores it and exits after its answer is as welcome.
 */
export const SIGNER_FD_VARIABLE = 'KUBECRED_SIGNER_FD'

/**
 * Ours: base64 of the message whose digest is to be signed, for signers that can only hash by themselves.
 *
 * The seed's request has no place for it. Further requests carry it as `message`.
 */
export const SIGNER_MESSAGE_VARIABLE = 'KUBECRED_SIGNER_MESSAGE'

/** The words of the specification, and those of the only plugin that was ever published (2020). */
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
 * Ours: a line before the answer that tells the person what to do, such as to touch the device.
 *
 * `{"apiVersion":…,"kind":"UserPrompt","prompt":"Touch the device"}`
 */
export const USER_PROMPT_KIND = 'UserPrompt'
/**
 * Ours: an answer that says why there is none, from a signer that stays. One that ends says it on standard error.
 *
 * `{"apiVersion":…,"kind":"SignerError","message":"the device is locked"}`
 */
export const SIGNER_ERROR_KIND = 'SignerError'

/** Whose words are spoken: the specification's, or those of the only plugin that was published (2020). */
export type SignerProtocol = keyof typeof SIGNER_KINDS

/** The parameters of the auth-provider, all of them, as they are told to the signer. */
export type SignerParameters = ReadonlyMap<string, Secret>

interface SignerDialect {
  readonly protocol: SignerProtocol
  readonly parameters: SignerParameters
}

/** What is to be signed, and how. */
interface ToSign {
  readonly scheme: SignatureScheme
  readonly digest: Uint8Array
  readonly message: Uint8Array
}

/** Asks for the certificate: one line of JSON. It holds the PIN, so it is a secret. */
export function encodeCertificateRequest({ protocol, parameters }: SignerDialect): string {
  return JSON.stringify({
    apiVersion: SIGNER_API_VERSION,
    kind: SIGNER_KINDS[protocol].certificateRequest,
    configuration: configurationOf(parameters),
  })
}

/**
 * Asks for a signature: one line of JSON. It holds the PIN, so it is a secret.
 *
 * @param withMessage Adds what the digest was made of. The specification has no place for it, so that it is
 *   part of lines only; a request in a variable has a variable beside it.
 */
export function encodeSignRequest(
  { protocol, parameters }: SignerDialect,
  { scheme, digest, message }: ToSign,
  withMessage = false,
): string {
  return JSON.stringify({
    apiVersion: SIGNER_API_VERSION,
    kind: SIGNER_KINDS[protocol].signRequest,
    // Ed25519 hashes by itself: what Go's signers are given as the digest is the message then.
    digest: encodeBase64(scheme === 'ed25519' ? message : digest),
    configuration: configurationOf(parameters),
    ...SIGNER_OPTIONS[scheme],
    ...(withMessage && { message: encodeBase64(message) }),
  })
}

/** In Go's order, which is that of the names. */
function configurationOf(parameters: SignerParameters): Record<string, string> {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1))
  // Names such as `__proto__` are names like any other here.
  return Object.fromEntries(sorted.map(([name, value]) => [name, value.expose()]))
}

/** What Go's crypto/tls hands to a signer: the type of its options, and the options as JSON in a string. */
interface SignerOptions {
  readonly signerOptsType: string
  readonly signerOpts: string
}

/** Numbers of Go's `crypto.Hash`. */
const SHA256 = 5
const SHA384 = 6
const SHA512 = 7
const NONE = 0

const plain = (hash: number): SignerOptions => ({
  signerOptsType: 'crypto.Hash',
  signerOpts: String(hash),
})

/** A salt length of -1 is one as long as the hash. */
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

/** What a signer was asked for, and so what it must answer with. */
export type SignerPayload = 'certificate' | 'signature'

/** One object that a signer sent. */
export type SignerMessage =
  | { readonly is: 'answer'; readonly bytes: Uint8Array }
  /** For the person; more will come. As the signer wrote it: clean it before showing. */
  | { readonly is: 'prompt'; readonly text: string }
  /** There will be no answer. As the signer wrote it too. */
  | { readonly is: 'failure'; readonly text: string }

export interface SignerAsked {
  readonly wish: SignerPayload
  readonly protocol: SignerProtocol
  /** The program or socket, for messages. */
  readonly signer: string
}

/**
 * Reads one object of a signer.
 *
 * Unknown fields are ignored; everything else must be as it was asked for. What came is a secret until it was
 * read: no part of it reaches an error, but a kind or version that looks like one.
 *
 * @throws {SignerResponseInvalidError} Names what was expected.
 */
export function readSignerMessage(sent: Fields, asked: SignerAsked): SignerMessage {
  const expected = expectedKind(asked)
  checkVersion(sent, asked)
  switch (sent['kind']) {
    case expected:
      return { is: 'answer', bytes: readBytes(sent, asked) }
    case USER_PROMPT_KIND:
      return { is: 'prompt', text: readText(sent, 'prompt', asked) }
    case SIGNER_ERROR_KIND:
      return { is: 'failure', text: readText(sent, 'message', asked) }
    default:
      throw wrong(asked, `${describeKind(sent['kind'])}, where ${expected} was expected`)
  }
}

/** The kind that the answer must have. */
export function expectedKind({ wish, protocol }: SignerAsked): string {
  const { certificateResponse, signResponse } = SIGNER_KINDS[protocol]
  return wish === 'certificate' ? certificateResponse : signResponse
}

function checkVersion(sent: Fields, asked: SignerAsked): void {
  const got = sent['apiVersion']
  if (got === SIGNER_API_VERSION) return
  const isMissing = got === undefined || got === null || got === ''
  const what = isMissing ? 'without an apiVersion' : 'in another apiVersion'
  throw wrong(asked, `${what}, where ${SIGNER_API_VERSION} was expected`)
}

/** The words of the other protocol are the likeliest mistake, and have a remedy of their own. */
function describeKind(kind: unknown): string {
  if (kind === undefined || kind === null || kind === '') return 'without a kind'
  const isWord = typeof kind === 'string' && /^[A-Za-z]{1,40}$/.test(kind)
  return isWord ? `with the kind ${kind}` : 'with another kind'
}

function readBytes(sent: Fields, asked: SignerAsked): Uint8Array {
  const { wish } = asked
  const encoded = readText(sent, wish, asked)
  const bytes = decodeBytes(encoded)
  if (bytes === undefined) throw wrong(asked, `with a ${wish} that is not standard base64`)
  if (bytes.length === 0) throw wrong(asked, `with an empty ${wish}`)
  return bytes
}

function readText(sent: Fields, field: string, asked: SignerAsked): string {
  const value = Object.hasOwn(sent, field) ? sent[field] : undefined
  if (typeof value === 'string' && value !== '') return value
  if (value === undefined || value === '') {
    throw wrong(asked, `with an empty ${field}, where text was expected`)
  }
  throw wrong(asked, `with ${describeType(value)} as ${field}, where text was expected`)
}

function wrong(asked: SignerAsked, what: string): SignerResponseInvalidError {
  const { reference2020, specification } = SIGNER_KINDS
  const [other, value] =
    asked.protocol === 'specification' ? [reference2020, '2020'] : [specification, 'v1alpha1']
  const isOther = Object.values(other).some((kind) => what.startsWith(`with the kind ${kind},`))
  return new SignerResponseInvalidError(asked.signer, `answered ${what}`, {
    ...(isOther && { hint: `Set signerProtocol: "${value}" in the config of the auth-provider.` }),
  })
}
