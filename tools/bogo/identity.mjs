// A certificate and a key that signs outside OpenSSL, as an external signer would.
import { constants, createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SIGNATURE_SCHEMES } from '../../packages/core/dist/credential/signing-key.js'

const HASHES = { 256: 'sha256', 384: 'sha384', 512: 'sha512' }

/** A certificate for connections of which the server requests none; it is never sent. */
const UNUSED = new URL('unused.pem', import.meta.url)

/**
 * @param preferred Code points of the signature schemes that the key may use, the best first; any if undefined.
 * @param onUnused Called if the server requests a certificate and the test has none: that is not ours.
 */
export function readIdentity({ certFile, keyFile, preferred, onUnused }) {
  if (certFile === undefined) {
    return { chain: readFileSync(UNUSED, 'utf8'), signingKey: { choose: onUnused, sign: onUnused } }
  }
  const key = createPrivateKey(readFileSync(keyFile))
  const choose = (schemes) =>
    preferred === undefined
      ? schemes[0]
      : preferred
          .map((codePoint) => schemes.find((scheme) => SIGNATURE_SCHEMES[scheme] === codePoint))
          .find((scheme) => scheme !== undefined)
  return {
    chain: readFileSync(certFile, 'utf8'),
    signingKey: {
      choose: async (schemes) => choose(schemes),
      sign: async ({ scheme, message }) => signMessage(key, scheme, message),
    },
  }
}

function signMessage(key, scheme, message) {
  if (scheme === 'ed25519') return sign(null, message, key)
  const hash = HASHES[scheme.slice(-3)]
  if (!scheme.startsWith('rsa_pss')) return sign(hash, message, key)
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST
  return sign(hash, message, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })
}
