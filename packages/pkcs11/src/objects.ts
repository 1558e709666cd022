import type { ObjectWish } from './configuration.ts'
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

/** More than a person could have put there. */
const MOST_OBJECTS = 1000

/** Finds the objects of a class that fit; without a login only the public ones can be seen. */
export function findObjects(session: Session, ofClass: number, wish: ObjectWish): TokenObject[] {
  const { cryptoki, handle } = session
  const template = [
    { type: CKA_CLASS, value: ofClass },
    ...(wish.id === undefined ? [] : [{ type: CKA_ID, value: wish.id }]),
    ...(wish.label === undefined ? [] : [{ type: CKA_LABEL, value: wish.label }]),
  ]
  const found = explained('search the token', () => {
    cryptoki.C_FindObjectsInit(handle, template)
    try {
      return cryptoki.C_FindObjects(handle, MOST_OBJECTS)
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

/** One attribute. Undefined when the object has none or the token keeps it to itself. */
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

/** How what was searched for is called in messages. */
export function describeObjectWish({ id, label }: ObjectWish): string {
  const said = [
    ...(id === undefined ? [] : [`the id ${id.toString('hex')}`]),
    ...(label === undefined ? [] : [`the label ${JSON.stringify(label)}`]),
  ]
  return said.length === 0 ? '' : ` with ${said.join(' and ')}`
}
