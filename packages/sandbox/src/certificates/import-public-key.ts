import { createPublicKey, webcrypto } from 'node:crypto'

/** Curves by their OpenSSL names. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
}

/**
 * Imports a PEM public key of any type that a client certificate may have.
 *
 * @throws {Error} The type of the key is not supported.
 */
export async function importPublicKey(pem: string): Promise<webcrypto.CryptoKey> {
  const key = createPublicKey(pem)
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: details } = key
  const der = key.export({ type: 'spki', format: 'der' })
  const read = async (algorithm: { name: string; hash?: string; namedCurve?: string }) =>
    webcrypto.subtle.importKey('spki', der, algorithm, true, ['verify'])
  if (type === 'rsa') return read({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' })
  if (type === 'ed25519') return read({ name: 'Ed25519' })
  const namedCurve = CURVES[details?.namedCurve ?? '']
  if (namedCurve === undefined)
    throw new Error(`cannot issue a certificate for a key of type ${type}`)
  return read({ name: 'ECDSA', namedCurve })
}
