import { SignerCertificateError } from '../errors/index.ts'
import type { ChainFacts, Crypto } from '../ports/crypto.ts'
import { formatRfc3339 } from '../protocol/rfc3339.ts'
import type { SignerProtocol } from '../protocol/signer-request.ts'
import { SUPPORTED_KEYS } from '../protocol/signing-key.ts'
import { describePairProblem } from './static-source.ts'

export interface ChainCheck {
  /** The program or socket, for messages. */
  readonly signer: string
  readonly protocol: SignerProtocol
  readonly crypto: Crypto
  readonly now: number
}

/**
 * Reads the certificate that a signer gave, and leaves only what its key can sign with.
 *
 * @throws {SignerCertificateError} When it cannot be used, or not any more.
 */
export function readSignerChain(
  bytes: Uint8Array,
  { signer, protocol, crypto, now }: ChainCheck,
): ChainFacts {
  const read = crypto.readChain(bytes)
  if (typeof read === 'string') {
    throw new SignerCertificateError(
      signer,
      `gave a certificate that cannot be used: ${describePairProblem(read)}`,
      { hint: 'Let the signer answer with base64 of one certificate in DER, or of a PEM chain.' },
    )
  }
  if (read.notAfter <= now) {
    throw new SignerCertificateError(
      signer,
      `gave a certificate that expired at ${formatRfc3339(read.notAfter)}`,
      {
        hint: 'Put a new certificate into the device; if the time looks right, check the clock of this machine.',
      },
    )
  }
  // The plugin of 2020 makes no other signatures.
  const isRsaOnly = protocol === 'reference2020'
  const schemes = read.schemes.filter((scheme) => !isRsaOnly || scheme.startsWith('rsa_pss'))
  if (schemes.length === 0) {
    const isOurs = read.schemes.length === 0
    throw new SignerCertificateError(
      signer,
      isOurs
        ? `gave a certificate whose key kubecred cannot use: kubecred does not support ${read.keyKind} keys`
        : `gave a certificate with a key other than RSA (${read.keyKind}), and signers of 2020 sign with RSA only`,
      { hint: `Use a key of another kind: ${isOurs ? SUPPORTED_KEYS : 'RSA'}.` },
    )
  }
  return { ...read, schemes }
}
