import { SignerCertificateError } from '../errors/index.ts'
import type { ChainFacts, Crypto } from '../ports/crypto.ts'
import { formatRfc3339 } from '../protocol/rfc3339.ts'
import type { SignerProtocol } from '../protocol/signer-request.ts'
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
    const what = isRsaOnly ? 'the signers of 2020 sign' : 'TLS 1.3 signs'
    throw new SignerCertificateError(
      signer,
      `gave a certificate for a kind of key that nothing here can use: ${what} with ${isRsaOnly ? 'RSA only' : 'RSA, P-256, P-384, P-521 and Ed25519'}`,
    )
  }
  return { ...read, schemes }
}
