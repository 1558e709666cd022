import type { Validity } from '../ports/observer.ts'
import type { CertificatePair } from '../protocol/credential.ts'
import type { Kept } from './lease.ts'

/** What may be told about the certificates of a run: its own, and the one that it replaced. */
export function certificateFacts(
  kept: Kept,
  old: Kept | undefined,
): { readonly certificate?: Validity; readonly replaced?: Validity } {
  const certificate = validityOf(kept.credential.certificate)
  const replaced =
    kept.tlsDigest === old?.tlsDigest ? undefined : validityOf(old?.credential.certificate)
  return { ...(certificate && { certificate }), ...(replaced && { replaced }) }
}

/** Only the numbers: chain and key are nobody's business. */
export function validityOf(pair: CertificatePair | undefined): Validity | undefined {
  return pair && { notBefore: pair.notBefore, notAfter: pair.notAfter }
}
