import type { CredentialPart, Validity } from '../ports/observer.ts'
import type { Acquired, CertificatePair, Credential } from '../protocol/credential.ts'
import type { Kept } from './lease.ts'

const PARTS = ['token', 'certificate', 'basic'] as const satisfies readonly CredentialPart[]

interface AcquiredFacts {
  readonly expiresAt: number | undefined
  readonly holds: readonly CredentialPart[]
  readonly certificate?: Validity
  readonly replaced?: Validity
}

/** What may be told about what a run brought: its kind, its end, its certificate and the one that it replaced. */
export function acquiredFacts(
  { credential, expiresAt }: Acquired,
  kept: Kept,
  old: Kept | undefined,
): AcquiredFacts {
  const certificate = validityOf(kept.credential.certificate)
  const replaced =
    kept.tlsDigest === old?.tlsDigest ? undefined : validityOf(old?.credential.certificate)
  return {
    expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined,
    holds: partsOf(credential),
    ...(certificate && { certificate }),
    ...(replaced && { replaced }),
  }
}

/** What kind of credential it is. */
export function partsOf(credential: Credential): readonly CredentialPart[] {
  return PARTS.filter((part) => credential[part] !== undefined)
}

/** Only the numbers: chain and key are nobody's business. */
export function validityOf(pair: CertificatePair | undefined): Validity | undefined {
  return pair && { notBefore: pair.notBefore, notAfter: pair.notAfter }
}
