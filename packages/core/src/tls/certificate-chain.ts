import { type KeyObject, X509Certificate } from 'node:crypto'
import {
  fitsKey,
  keyKind,
  MAX_CHAIN_BYTES,
  SCHEME_FACTS,
  type SignatureScheme,
  SUPPORTED_KEYS,
} from '../credential/signing-key.ts'
import { HandshakeProblem } from './alert.ts'
import { ALERT } from './constants.ts'

/** The certificates that a client shows. */
export interface CertificateChain {
  /** DER, leaf first. */
  readonly certificates: readonly Buffer[]
  /** The public key of the leaf. */
  readonly publicKey: KeyObject
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/**
 * Reads a chain of certificates, leaf first, from PEM.
 *
 * @throws {HandshakeProblem} The key is of a kind that we cannot sign with.
 * @throws {TypeError} There is no certificate, one cannot be read, or they are too long for a server.
 */
export function readCertificateChain(pem: string): CertificateChain {
  const blocks = pem.match(BLOCK) ?? []
  const certificates = blocks.map(readCertificate)
  const [leaf] = certificates
  if (leaf === undefined) throw new TypeError('the chain has no certificate in PEM')
  const length = certificates.reduce((sum, { raw }) => sum + raw.length, 0)
  if (length > MAX_CHAIN_BYTES) {
    throw new TypeError(
      `the chain is ${length} bytes long, a server takes no more than ${MAX_CHAIN_BYTES}`,
    )
  }
  return { certificates: certificates.map(({ raw }) => raw), publicKey: usableKey(leaf) }
}

/** Checked before the server is asked what it accepts: what no server can change is not the server's fault. */
function usableKey(leaf: X509Certificate): KeyObject {
  const key = publicKeyOf(leaf)
  const all = Object.keys(SCHEME_FACTS) as SignatureScheme[]
  if (key !== undefined && all.some((scheme) => fitsKey(scheme, key))) return key
  throw new HandshakeProblem(
    ALERT.handshakeFailure,
    `kubecred does not support ${keyKind(key, leaf.raw)} keys (it supports ${SUPPORTED_KEYS})`,
  )
}

/** Undefined for a kind of key that this OpenSSL does not know. */
function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey
  } catch {
    return undefined
  }
}

function readCertificate(block: string, index: number): X509Certificate {
  try {
    return new X509Certificate(block)
  } catch (cause) {
    throw new TypeError(`the certificate ${index + 1} of the chain cannot be read`, { cause })
  }
}
