import type { Validity } from '../ports/observer.ts'
import type { Acquired, CertificatePair } from '../protocol/credential.ts'
import type { Kept } from './lease.ts'

const PARTS = ['token', 'certificate', 'basic'] as const

interface AcquiredFacts {
  readonly expiresAt: number | undefined
  readonly holds: readonly (typeof PARTS)[number][]
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
    holds: PARTS.filter((part) => credential[part] !== undefined),
    ...(certificate && { certificate }),
    ...(replaced && { replaced }),
  }
}

/** Only the numbers: chain and key are nobody's business. */
export function validityOf(pair: CertificatePair | undefined): Validity | undefined {
  return pair && { notBefore: pair.notBefore, notAfter: pair.notAfter }
}
