import { X509Certificate } from 'node:crypto'
import type { ObjectWish } from './configuration.ts'
import { CKA_VALUE, CKO_CERTIFICATE, CKO_PRIVATE_KEY, CKO_PUBLIC_KEY } from './cryptoki.ts'
import { findObjects, readAttribute, type Session, type TokenObject } from './objects.ts'
import { readPublicKey } from './public-key.ts'

/** A certificate in a token. */
export interface FoundCertificate extends TokenObject {
  readonly certificate: X509Certificate
}

/**
 * Finds the certificate that belongs to the key that is meant. Undefined when none can be seen.
 *
 * Renewals leave several with one id: the one that fits the key is taken before others, one that is valid now before
 * others, and then the newest.
 */
export function findCertificate(
  session: Session,
  wish: ObjectWish,
  now: number,
): FoundCertificate | undefined {
  const found = listCertificates(session, wish)
  const candidates = found.length > 0 ? found : byIdOfKey(session, wish)
  if (candidates.length < 2) return candidates[0]
  const rank = (each: FoundCertificate): number =>
    (fitsItsKey(session, each) === false ? 0 : 2) + (isValid(each.certificate, now) ? 1 : 0)
  return candidates.sort(
    (a, b) =>
      rank(b) - rank(a) ||
      Date.parse(b.certificate.validFrom) - Date.parse(a.certificate.validFrom),
  )[0]
}

/** All certificates that fit and can be read. */
export function listCertificates(session: Session, wish: ObjectWish): FoundCertificate[] {
  return findObjects(session, CKO_CERTIFICATE, wish).flatMap((object) => {
    const der = readAttribute(session, object.handle, CKA_VALUE)
    try {
      return der === undefined ? [] : [{ ...object, certificate: new X509Certificate(der) }]
    } catch {
      return []
    }
  })
}

/** Whether the public key with the same id is the certificate's. Undefined when none can be seen. */
export function fitsItsKey(
  session: Session,
  { id, certificate }: FoundCertificate,
): boolean | undefined {
  const keys = findObjects(session, CKO_PUBLIC_KEY, { id }).flatMap(
    ({ handle }) => readPublicKey(session, handle) ?? [],
  )
  return keys.length === 0 ? undefined : keys.some((key) => key.equals(certificate.publicKey))
}

/** Cards often label a key and its certificate differently; the id is what they share. */
function byIdOfKey(session: Session, { id, label }: ObjectWish): FoundCertificate[] {
  if (label === undefined) return []
  const keys = [CKO_PUBLIC_KEY, CKO_PRIVATE_KEY].flatMap((ofClass) =>
    findObjects(session, ofClass, { id, label }),
  )
  const [key] = keys
  return key === undefined || key.id.length === 0 ? [] : listCertificates(session, { id: key.id })
}

function isValid({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validFrom) <= now && now < Date.parse(validTo)
}
