import type { webcrypto } from 'node:crypto'
import { createRequire } from 'node:module'

/** An extension of a certificate; its contents are opaque here. */
export interface Extension {
  readonly critical: boolean
}

/** A certificate of `@peculiar/x509`. */
interface MadeCertificate {
  toString(format: 'pem'): string
}

/** A distinguished name as a list of relative names; several values of one attribute share one relative name. */
export type DistinguishedName = readonly Readonly<Record<string, readonly string[]>>[]

/** The parameters of the certificate generator. */
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
 * A plain import does not work, for two reasons. Its dependency tsyringe fails to load without `reflect-metadata`,
 * although nothing that the sandbox uses needs it; so placeholders of its functions are set while the package loads, and
 * removed afterwards. And its type declarations need the DOM library, which would make browser globals compile
 * everywhere; so the types are declared above.
 */
export function loadX509(): X509Module {
  const require = createRequire(import.meta.url)
  if ('getMetadata' in Reflect) return require('@peculiar/x509')
  const placeholders = { getMetadata: returnUndefined, getOwnMetadata: returnUndefined }
  Object.assign(Reflect, placeholders)
  try {
    return require('@peculiar/x509')
  } finally {
    for (const name of Object.keys(placeholders)) Reflect.deleteProperty(Reflect, name)
  }
}

function returnUndefined(): undefined {
  return undefined
}
