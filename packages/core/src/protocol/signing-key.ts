/** TLS 1.3 signature schemes a client certificate can be used with, by their names and numbers in RFC 8446. */
export const SIGNATURE_SCHEMES = {
  ecdsa_secp256r1_sha256: 0x0403,
  ecdsa_secp384r1_sha384: 0x0503,
  ecdsa_secp521r1_sha512: 0x0603,
  rsa_pss_rsae_sha256: 0x0804,
  rsa_pss_rsae_sha384: 0x0805,
  rsa_pss_rsae_sha512: 0x0806,
  ed25519: 0x0807,
} as const

export type SignatureScheme = keyof typeof SIGNATURE_SCHEMES

/** What is to be signed. */
export interface SigningRequest {
  readonly scheme: SignatureScheme
  /** The digest of `message` by the scheme's hash. Ed25519 hashes by itself: there it is `message`. */
  readonly digest: Uint8Array
  readonly message: Uint8Array
  /** Aborted when nobody waits for the signature any more. */
  readonly signal: AbortSignal
}

/**
 * A private key that is somewhere else: in a token, an HSM, another process.
 *
 * It only ever gives signatures. RSA signatures are RSASSA-PSS with a salt as long as the hash; those of
 * elliptic curves are in DER.
 */
export interface SigningKey {
  /**
   * Picks one of the schemes that both the server and the certificate allow, best first.
   *
   * @returns Undefined when the key can make none of them.
   */
  choose(
    schemes: readonly SignatureScheme[],
    signal: AbortSignal,
  ): Promise<SignatureScheme | undefined>
  sign(request: SigningRequest): Promise<Uint8Array>
}
