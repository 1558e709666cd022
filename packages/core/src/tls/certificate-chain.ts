import { type KeyObject, X509Certificate } from 'node:crypto'
import {
  fitsKey,
  keyKind,
  MAX_CHAIN_BYTES,
  SCHEME_FACTS,
  type SignatureScheme,
  SUPPORTED_KEYS,
} from '../credential/signing-key.ts'
import { HandshakeError } from './alert.ts'
import { ALERT } from './constants.ts'

/** The certificates that a client sends in its Certificate message. */
export interface CertificateChain {
  /** DER, leaf first. */
  readonly certificates: readonly Buffer[]
  /** The public key of the leaf. */
  readonly publicKey: KeyObject
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Parses a certificate chain in PEM, leaf first.
 *
 * @throws {HandshakeError} The key of the leaf is of an unsupported type.
 * @throws {TypeError} There is no certificate, one cannot be parsed, or the chain is too long for a server.
 */
export function readCertificateChain(pem: string): CertificateChain {
  const blocks = pem.match(PEM_CERTIFICATE) ?? []
  const certificates = blocks.map(readCertificate)
  const [leaf] = certificates
  if (leaf === undefined) throw new TypeError('the chain contains no PEM certificate')
  const length = certificates.reduce((sum, { raw }) => sum + raw.length, 0)
  if (length > MAX_CHAIN_BYTES) {
    throw new TypeError(
      `the chain is ${length} bytes long, servers accept at most ${MAX_CHAIN_BYTES}`,
    )
  }
  return { certificates: certificates.map(({ raw }) => raw), publicKey: usableKey(leaf) }
}

/** Checks the key type before the server names its signature schemes: no server could accept an unsupported key. */
function usableKey(leaf: X509Certificate): KeyObject {
  const key = publicKeyOf(leaf)
  const all = Object.keys(SCHEME_FACTS) as SignatureScheme[]
  if (key !== undefined && all.some((scheme) => fitsKey(scheme, key))) return key
  throw new HandshakeError(
    ALERT.handshakeFailure,
    `kubecred does not support ${keyKind(key, leaf.raw)} keys (it supports ${SUPPORTED_KEYS})`,
  )
}

/** Returns undefined for a key type that this OpenSSL does not know. */
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
    throw new TypeError(`certificate ${index + 1} of the chain cannot be parsed`, { cause })
  }
}
