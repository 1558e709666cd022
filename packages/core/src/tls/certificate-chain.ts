import { type KeyObject, X509Certificate } from 'node:crypto'

/** The certificates that a client shows. */
export interface CertificateChain {
  /** DER, leaf first. */
  readonly certificates: readonly Buffer[]
  /** The public key of the leaf. */
  readonly publicKey: KeyObject
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/** Servers take no more: Go stops a message of a client at 64 KiB. */
const MAX_LENGTH = 60_000

/**
 * Reads a chain of certificates, leaf first, from PEM.
 *
 * @throws {TypeError} There is no certificate, one cannot be read, or they are too long for a server.
 */
export function readCertificateChain(pem: string): CertificateChain {
  const blocks = pem.match(BLOCK) ?? []
  const certificates = blocks.map(readCertificate)
  const [leaf] = certificates
  if (leaf === undefined) throw new TypeError('the chain has no certificate in PEM')
  const length = certificates.reduce((sum, { raw }) => sum + raw.length, 0)
  if (length > MAX_LENGTH) {
    throw new TypeError(
      `the chain is ${length} bytes long, a server takes no more than ${MAX_LENGTH}`,
    )
  }
  return { certificates: certificates.map(({ raw }) => raw), publicKey: leaf.publicKey }
}

function readCertificate(block: string, index: number): X509Certificate {
  try {
    return new X509Certificate(block)
  } catch (cause) {
    throw new TypeError(`the certificate ${index + 1} of the chain cannot be read`, { cause })
  }
}
