import type { webcrypto } from 'node:crypto'
import { createRequire } from 'node:module'

/** One extension of a certificate; what is inside is the business of `@peculiar/x509`. */
export interface Extension {
  readonly critical: boolean
}

/** A certificate as `@peculiar/x509` hands it out. */
interface MadeCertificate {
  toString(format: 'pem'): string
}

/** A name as a list of relative names; several values of one attribute share one of them. */
export type DistinguishedName = readonly Readonly<Record<string, readonly string[]>>[]

/** What the certificate generator is told. */
interface CertificateParameters {
  readonly subject: DistinguishedName
  readonly issuer: DistinguishedName
  readonly notBefore: Date
  readonly notAfter: Date
  readonly publicKey: webcrypto.CryptoKey
  readonly signingKey: webcrypto.CryptoKey
  readonly signingAlgorithm: { readonly name: string; readonly hash: string }
  readonly extensions: readonly Extension[]
}

/** A name in the subject alternative name extension. */
export interface AlternativeName {
  readonly type: 'dns' | 'ip'
  readonly value: string
}

/** The part of `@peculiar/x509` that the sandbox uses. */
export interface X509Module {
  readonly X509CertificateGenerator: {
    create(parameters: CertificateParameters, crypto: webcrypto.Crypto): Promise<MadeCertificate>
  }
  readonly BasicConstraintsExtension: new (
    ca: boolean,
    pathLength: number | undefined,
    critical: boolean,
  ) => Extension
  readonly KeyUsagesExtension: new (usages: number, critical: boolean) => Extension
  readonly ExtendedKeyUsageExtension: new (usages: readonly string[]) => Extension
  readonly SubjectAlternativeNameExtension: new (names: readonly AlternativeName[]) => Extension
  readonly SubjectKeyIdentifierExtension: {
    create(
      key: webcrypto.CryptoKey,
      critical: boolean,
      crypto: webcrypto.Crypto,
    ): Promise<Extension>
  }
  readonly AuthorityKeyIdentifierExtension: {
    create(
      key: webcrypto.CryptoKey,
      critical: boolean,
      crypto: webcrypto.Crypto,
    ): Promise<Extension>
  }
}

/**
 * Loads `@peculiar/x509`.
 *
 * The package cannot be imported plainly, for two reasons. Its dependency tsyringe refuses to load
 * without `reflect-metadata`, although nothing the sandbox uses needs it; so the one function it
 * looks for stands in while it loads, and is gone afterwards. And its type declarations need the
 * DOM library, which would let browser names compile everywhere; so its types are stated above.
 */
export function loadX509(): X509Module {
  const require = createRequire(import.meta.url)
  if ('getMetadata' in Reflect) return require('@peculiar/x509')
  const placeholders = { getMetadata: nothing, getOwnMetadata: nothing }
  Object.assign(Reflect, placeholders)
  try {
    return require('@peculiar/x509')
  } finally {
    for (const name of Object.keys(placeholders)) Reflect.deleteProperty(Reflect, name)
  }
}

function nothing(): undefined {
  return undefined
}
