import type { ObjectFilter } from './configuration.ts'
import {
  CKA_CLASS,
  CKA_ID,
  CKA_LABEL,
  CKR_ATTRIBUTE_SENSITIVE,
  CKR_ATTRIBUTE_TYPE_INVALID,
  type Cryptoki,
  type Handle,
  trimPadding,
} from './cryptoki.ts'
import { ckrOf, explained } from './explain-failure.ts'

/** An open session with a token. */
export interface Session {
  readonly cryptoki: Cryptoki
  readonly handle: Handle
}

/** An object in a token. */
export interface TokenObject {
  readonly handle: Handle
  readonly id: Buffer
  readonly label: string
}

/** More objects than any real token holds. */
const MAX_OBJECTS = 1000

/** Finds the objects of a class that match a filter. Without a login only public objects are visible. */
export function findObjects(
  session: Session,
  ofClass: number,
  filter: ObjectFilter,
): TokenObject[] {
  const { cryptoki, handle } = session
  const template = [
    { type: CKA_CLASS, value: ofClass },
    ...(filter.id === undefined ? [] : [{ type: CKA_ID, value: filter.id }]),
    ...(filter.label === undefined ? [] : [{ type: CKA_LABEL, value: filter.label }]),
  ]
  const found = explained('search the token', () => {
    cryptoki.C_FindObjectsInit(handle, template)
    try {
      return cryptoki.C_FindObjects(handle, MAX_OBJECTS)
    } finally {
      cryptoki.C_FindObjectsFinal(handle)
    }
  })
  return found.map((object) => ({
    handle: object,
    id: readAttribute(session, object, CKA_ID) ?? Buffer.alloc(0),
    label: trimPadding(readAttribute(session, object, CKA_LABEL)?.toString('utf8') ?? ''),
  }))
}

/** Reads an attribute. Returns undefined if the object does not have it or the token does not reveal it. */
export function readAttribute(
  { cryptoki, handle }: Session,
  object: Handle,
  type: number,
): Buffer | undefined {
  try {
    const [attribute] = cryptoki.C_GetAttributeValue(handle, object, [{ type }])
    return attribute?.value as Buffer | undefined
  } catch (error) {
    const code = ckrOf(error)
    if (code === CKR_ATTRIBUTE_TYPE_INVALID || code === CKR_ATTRIBUTE_SENSITIVE) return undefined
    return explained('read from the token', () => {
      throw error
    })
  }
}

/** Describes a filter for messages: ` with the id 02`, or nothing if it matches everything. */
export function describeObjectFilter({ id, label }: ObjectFilter): string {
  const parts = [
    ...(id === undefined ? [] : [`the id ${id.toString('hex')}`]),
    ...(label === undefined ? [] : [`the label ${JSON.stringify(label)}`]),
  ]
  return parts.length === 0 ? '' : ` with ${parts.join(' and ')}`
}
