import { X509Certificate } from 'node:crypto'
import type { ObjectFilter } from './configuration.ts'
import { CKA_VALUE, CKO_CERTIFICATE, CKO_PRIVATE_KEY, CKO_PUBLIC_KEY } from './cryptoki.ts'
import { findObjects, readAttribute, type Session, type TokenObject } from './objects.ts'
import { readPublicKey } from './public-key.ts'

/** A certificate in a token. */
export interface FoundCertificate extends TokenObject {
  readonly certificate: X509Certificate
}

/**
 * Finds the certificate of the key that matches a filter. Returns undefined if none is visible.
 *
 * Renewals leave several certificates with one id. Preferred are those that match the key, then those that are valid
 * now, then the newest.
 */
export function findCertificate(
  session: Session,
  filter: ObjectFilter,
  now: number,
): FoundCertificate | undefined {
  const found = listCertificates(session, filter)
  const candidates = found.length > 0 ? found : byIdOfKey(session, filter)
  if (candidates.length < 2) return candidates[0]
  const rank = (each: FoundCertificate): number =>
    (matchesItsKey(session, each) === false ? 0 : 2) + (isValid(each.certificate, now) ? 1 : 0)
  return candidates.sort(
    (a, b) =>
      rank(b) - rank(a) ||
      Date.parse(b.certificate.validFrom) - Date.parse(a.certificate.validFrom),
  )[0]
}

/** Lists the certificates that match a filter and can be parsed. */
export function listCertificates(session: Session, filter: ObjectFilter): FoundCertificate[] {
  return findObjects(session, CKO_CERTIFICATE, filter).flatMap((object) => {
    const der = readAttribute(session, object.handle, CKA_VALUE)
    try {
      return der === undefined ? [] : [{ ...object, certificate: new X509Certificate(der) }]
    } catch {
      return []
    }
  })
}

/** Whether the public key with the same id is the certificate's. Undefined if no such key is visible. */
export function matchesItsKey(
  session: Session,
  { id, certificate }: FoundCertificate,
): boolean | undefined {
  const keys = findObjects(session, CKO_PUBLIC_KEY, { id }).flatMap(
    ({ handle }) => readPublicKey(session, handle) ?? [],
  )
  return keys.length === 0 ? undefined : keys.some((key) => key.equals(certificate.publicKey))
}

/** Finds the certificates by the label of their key: cards often label the two differently, but they share the id. */
function byIdOfKey(session: Session, { id, label }: ObjectFilter): FoundCertificate[] {
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
