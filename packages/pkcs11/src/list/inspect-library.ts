import {
  CKF_LOGIN_REQUIRED,
  CKF_PROTECTED_AUTHENTICATION_PATH,
  CKF_SERIAL_SESSION,
  CKF_USER_PIN_COUNT_LOW,
  CKF_USER_PIN_FINAL_TRY,
  CKF_USER_PIN_LOCKED,
  CKO_PRIVATE_KEY,
  CKO_PUBLIC_KEY,
  type Cryptoki,
  trimPadding,
} from '../cryptoki.ts'
import { explained } from '../explain-failure.ts'
import { type FoundCertificate, listCertificates } from '../find-certificate.ts'
import { findObjects, type Session, type TokenObject } from '../objects.ts'
import { keyKindOf, readPublicKey } from '../public-key.ts'
import { describeToken, listTokens, type Token } from '../tokens.ts'
import type { ListedEntry, ListedLibrary, ListedToken, PinState } from './listed-library.ts'
import { configurationFor } from './stanza.ts'

/** How to inspect a library. */
export interface InspectOptions {
  /** Logs in to a token before its objects are listed. */
  readonly logIn: ((session: Session, token: Token) => Promise<void>) | undefined
  readonly now: number
  /** The program that the kubeconfig starts. */
  readonly program: string
}

type InspectedEntry = Omit<ListedEntry, 'config'>

/** Lists the tokens of a library with their keys and certificates. */
export async function inspectLibrary(
  path: string,
  cryptoki: Cryptoki,
  options: InspectOptions,
): Promise<ListedLibrary> {
  const info = explained(`use the library ${path}`, () => cryptoki.C_GetInfo())
  const all = listTokens(cryptoki)
  const tokens: ListedToken[] = []
  for (const token of all) {
    const { entries, problem } = await inspectToken(cryptoki, token, options)
    const { label, serial, slotId, manufacturer, model } = token
    const { program } = options
    tokens.push({
      ...{ label, serial, slotId: String(slotId), manufacturer, model },
      pin: pinStateOf(token),
      problem,
      entries: entries.map((entry) => ({
        ...entry,
        config: configurationFor(entry, { token, tokens: all, library: path, program }),
      })),
    })
  }
  const description = [info.manufacturerID, info.libraryDescription].map(trimPadding)
  return {
    library: path,
    description: description.filter((part) => part !== '').join(', '),
    tokens,
  }
}

async function inspectToken(
  cryptoki: Cryptoki,
  token: Token,
  { logIn, now }: InspectOptions,
): Promise<{ entries: InspectedEntry[]; problem: string | undefined }> {
  let problem: string | undefined
  try {
    const handle = explained(`use token ${describeToken(token)}`, () =>
      cryptoki.C_OpenSession(token.slot, CKF_SERIAL_SESSION),
    )
    const session = { cryptoki, handle }
    try {
      await logIn?.(session, token)
    } catch (error) {
      // The public objects can be listed anyway.
      problem = (error as Error).message
    }
    return { entries: readEntries(session, now), problem }
  } catch (error) {
    return { entries: [], problem: (error as Error).message }
  }
}

function readEntries(session: Session, now: number): InspectedEntry[] {
  const privates = findObjects(session, CKO_PRIVATE_KEY, {})
  const publics = findObjects(session, CKO_PUBLIC_KEY, {})
  const certificates = listCertificates(session, {})
  const all = [...privates, ...publics, ...certificates]
  const ids = new Set(all.map(({ id }) => id.toString('hex')))
  return [...ids].sort().flatMap((id) => {
    const own = <T extends TokenObject>(objects: readonly T[]): T[] =>
      objects.filter((object) => object.id.toString('hex') === id)
    const found = own(certificates)
    const several = found.length === 0 ? [undefined] : found
    const [privateKeys, publicKeys] = [own(privates), own(publics)]
    return several.map((certificate) =>
      readEntry(session, id, { privateKeys, publicKeys, certificate, now }),
    )
  })
}

interface EntryObjects {
  readonly privateKeys: readonly TokenObject[]
  readonly publicKeys: readonly TokenObject[]
  readonly certificate: FoundCertificate | undefined
  readonly now: number
}

function readEntry(
  session: Session,
  id: string,
  { privateKeys, publicKeys, certificate, now }: EntryObjects,
): InspectedEntry {
  const keys = [...privateKeys, ...publicKeys]
  const [key] = keys
  const values = keys.flatMap(({ handle }) => readPublicKey(session, handle) ?? [])
  const known = [...keys, ...(certificate === undefined ? [] : [certificate])]
  const x509 = certificate?.certificate
  return {
    id,
    labels: [...new Set(known.map(({ label }) => label).filter((label) => label !== ''))],
    key: key && { kind: keyKindOf(session, key.handle), isPrivateSeen: privateKeys.length > 0 },
    certificate: x509 && {
      subject: oneLine(x509.subject),
      issuer: oneLine(x509.issuer),
      notBefore: new Date(x509.validFrom).toISOString(),
      notAfter: new Date(x509.validTo).toISOString(),
      isExpired: Date.parse(x509.validTo) <= now,
    },
    isMatch:
      x509 === undefined || values.length === 0
        ? undefined
        : values.some((value) => value.equals(x509.publicKey)),
  }
}

/** Joins a distinguished name into one line: Node puts each attribute on its own. */
function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ')
}

function pinStateOf({ flags }: Token): PinState {
  if ((flags & CKF_USER_PIN_LOCKED) !== 0) return 'locked'
  if ((flags & CKF_USER_PIN_FINAL_TRY) !== 0) return 'last-try'
  if ((flags & CKF_USER_PIN_COUNT_LOW) !== 0) return 'low'
  if ((flags & CKF_PROTECTED_AUTHENTICATION_PATH) !== 0) return 'on-device'
  return (flags & CKF_LOGIN_REQUIRED) !== 0 ? 'needed' : 'not-needed'
}
