import { X509Certificate } from 'node:crypto'
import { SignRequestError } from '../../errors/authoring-errors.ts'
import { SignerAnswerError, SignerCertificateError } from '../../errors/signer-errors.ts'
import { SIGNER_API_VERSION } from '../../protocol/signer-wire.ts'
import { programName } from '../program-name.ts'
import { isEcdsaDer } from './ecdsa-der.ts'
import type { SignerContext, SignerHandlers } from './handlers.ts'
import type { AskedOfSigner, AskedSignature } from './sign-request.ts'

/** A signature is never longer; what is, is something else. */
const LONGEST_SIGNATURE = 4096

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export interface AnswerTools extends Omit<SignerContext, 'configuration'> {
  /** Whether the client reads a whole chain as PEM. The specification has one certificate as DER. */
  readonly takesChain: boolean
}

/**
 * Lets the author's function answer one request, and writes the answer: one line of JSON, in the words of the request.
 *
 * What the function gives is checked first, so that a mistake shows at the author's desk.
 *
 * @throws {SignRequestError} For PKCS#1 v1.5.
 * @throws {SignerAnswerError} For something that is no signature.
 * @throws {SignerCertificateError} For something that is no certificate.
 */
export async function answerRequest(
  asked: AskedOfSigner,
  { certificate, sign }: SignerHandlers,
  { takesChain, ...tools }: AnswerTools,
): Promise<string> {
  const { kinds, configuration } = asked
  if (asked.is === 'certificate') {
    const chain = readChain(await certificate({ configuration, ...tools }))
    const bytes = takesChain && chain.length > 1 ? Buffer.from(chain.join('')) : chain[0]?.raw
    return line({ kind: kinds.certificateResponse, certificate: base64(bytes ?? Buffer.alloc(0)) })
  }
  const { scheme, digest, message } = asked
  const signature = await sign({ configuration, scheme, digest, message, ...tools })
  checkSignature(signature)
  if (!isFor(scheme, signature)) throw await explainOther(asked, certificate, tools)
  return line({ kind: kinds.signResponse, signature: base64(signature) })
}

/** One line of the protocol. */
export function line(fields: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ apiVersion: SIGNER_API_VERSION, ...fields })}\n`
}

/** All certificates of PEM, or the one of DER. */
function readChain(given: unknown): X509Certificate[] {
  const hint = 'Return a Buffer with DER, or the text of a PEM file, from certificate().'
  if (typeof given !== 'string' && !(given instanceof Uint8Array)) {
    throw new SignerCertificateError(programName(), 'returned no certificate, DER or PEM', { hint })
  }
  try {
    const text = typeof given === 'string' ? given : Buffer.from(given).toString('latin1')
    const blocks = text.match(PEM) ?? [given]
    return blocks.map((block) => new X509Certificate(block))
  } catch (cause) {
    const what = 'returned a certificate that is none'
    throw new SignerCertificateError(programName(), what, { cause, hint })
  }
}

function wrong(what: string, hint: string): SignerAnswerError {
  return new SignerAnswerError(programName(), what, { hint })
}

function checkSignature(signature: unknown): asserts signature is Uint8Array {
  if (!(signature instanceof Uint8Array) || signature.length === 0) {
    throw wrong('returned no signature', 'Return a Buffer with the signature from sign().')
  }
  if (signature.length > LONGEST_SIGNATURE) {
    throw wrong('returned more than a signature', 'Return only the bytes of the signature.')
  }
}

const ED25519_BYTES = 64

function isFor(scheme: AskedSignature['scheme'], signature: Uint8Array): boolean {
  if (scheme === 'ed25519') return signature.length === ED25519_BYTES
  return !scheme.startsWith('ecdsa') || isEcdsaDer(signature)
}

/** Only now, when something is wrong, the certificate is asked for: it may take a device and a person. */
async function explainOther(
  { scheme, configuration }: AskedSignature,
  certificate: SignerHandlers['certificate'],
  tools: Omit<AnswerTools, 'takesChain'>,
): Promise<Error> {
  const [leaf] = await Promise.resolve(certificate({ configuration, ...tools }))
    .then(readChain)
    .catch(() => [])
  if (leaf?.publicKey.asymmetricKeyType === 'rsa') {
    return new SignRequestError(
      'signerOpts',
      'asks for PKCS#1 v1.5, as crypto.Hash options do for an RSA key, and TLS 1.3 does not allow it',
      { hint: 'Connect to a server that speaks TLS 1.3: then clients ask for RSASSA-PSS.' },
    )
  }
  return scheme === 'ed25519'
    ? wrong(
        'returned an Ed25519 signature that is not 64 bytes long',
        'Return the signature as it is.',
      )
    : wrong(
        'returned an ECDSA signature that is not in DER',
        'Convert r || s with ecdsaToDer() of kubecred/signer.',
      )
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
