import type { ObjectWish } from './configuration.ts'
import { CKA_ALWAYS_AUTHENTICATE, CKO_CERTIFICATE, CKO_PRIVATE_KEY } from './cryptoki.ts'
import {
  describeObjectWish,
  findObjects,
  readAttribute,
  type Session,
  type TokenObject,
} from './objects.ts'
import { type KeyKind, keyKindOf } from './public-key.ts'
import { TokenError } from './token-error.ts'
import { describeToken, type Token } from './tokens.ts'

/** A private key that may be used once somebody is logged in. */
export interface FoundKey extends TokenObject {
  readonly kind: KeyKind
  /** The token wants the PIN for every signature. */
  readonly isAlwaysAuthenticated: boolean
}

/**
 * Finds the private key that is meant. Undefined when it cannot be seen.
 *
 * @throws {TokenError} When more than one fits.
 */
export function findKey(session: Session, wish: ObjectWish, token: Token): FoundKey | undefined {
  const found = findObjects(session, CKO_PRIVATE_KEY, wish)
  const candidates = found.length > 0 ? found : byIdOfCertificate(session, wish)
  const [key, another] = candidates
  if (another !== undefined) {
    const those = candidates.map(
      ({ id, label }) => `${id.toString('hex')} ${JSON.stringify(label)}`,
    )
    throw new TokenError(
      `token ${describeToken(token)} has ${candidates.length} private keys${describeObjectWish(wish)}: ${those.join(', ')}`,
      { hint: 'Add objectLabel or objectIdHex, so that one is left.' },
    )
  }
  return (
    key && {
      ...key,
      kind: keyKindOf(session, key.handle),
      isAlwaysAuthenticated: readAttribute(session, key.handle, CKA_ALWAYS_AUTHENTICATE)?.[0] === 1,
    }
  )
}

/** The label may be the certificate's. */
function byIdOfCertificate(session: Session, { id, label }: ObjectWish): TokenObject[] {
  if (label === undefined) return []
  const [certificate] = findObjects(session, CKO_CERTIFICATE, { id, label })
  return certificate === undefined || certificate.id.length === 0
    ? []
    : findObjects(session, CKO_PRIVATE_KEY, { id: certificate.id })
}
