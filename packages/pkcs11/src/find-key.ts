import type { ObjectFilter } from './configuration.ts'
import { CKA_ALWAYS_AUTHENTICATE, CKO_CERTIFICATE, CKO_PRIVATE_KEY } from './cryptoki.ts'
import {
  describeObjectFilter,
  findObjects,
  readAttribute,
  type Session,
  type TokenObject,
} from './objects.ts'
import { type KeyKind, keyKindOf } from './public-key.ts'
import { TokenError } from './token-error.ts'
import { describeToken, type Token } from './tokens.ts'

/** A private key, which can be used after a login. */
export interface FoundKey extends TokenObject {
  readonly kind: KeyKind
  /** Whether the token requires the PIN for every signature (CKA_ALWAYS_AUTHENTICATE). */
  readonly isAlwaysAuthenticated: boolean
}

/**
 * Finds the private key that matches a filter. Returns undefined if none is visible.
 *
 * @throws {TokenError} More than one key matches.
 */
export function findKey(
  session: Session,
  filter: ObjectFilter,
  token: Token,
): FoundKey | undefined {
  const found = findObjects(session, CKO_PRIVATE_KEY, filter)
  const candidates = found.length > 0 ? found : byIdOfCertificate(session, filter)
  const [key, another] = candidates
  if (another !== undefined) {
    const listed = candidates.map(
      ({ id, label }) => `${id.toString('hex')} ${JSON.stringify(label)}`,
    )
    throw new TokenError(
      `token ${describeToken(token)} has ${candidates.length} private keys${describeObjectFilter(filter)}: ${listed.join(', ')}`,
      { hint: 'Add objectLabel or objectIdHex to select one of them.' },
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

/** Finds the keys by the label of their certificate, which may differ from their own. */
function byIdOfCertificate(session: Session, { id, label }: ObjectFilter): TokenObject[] {
  if (label === undefined) return []
  const [certificate] = findObjects(session, CKO_CERTIFICATE, { id, label })
  return certificate === undefined || certificate.id.length === 0
    ? []
    : findObjects(session, CKO_PRIVATE_KEY, { id: certificate.id })
}
