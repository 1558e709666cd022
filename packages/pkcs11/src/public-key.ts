import { createPublicKey, type KeyObject } from 'node:crypto'
import {
  CKA_EC_PARAMS,
  CKA_EC_POINT,
  CKA_KEY_TYPE,
  CKA_MODULUS,
  CKA_PUBLIC_EXPONENT,
  CKK_EC,
  CKK_EC_EDWARDS,
  CKK_RSA,
  type Handle,
  readUlong,
} from './cryptoki.ts'
import { readAttribute, type Session } from './objects.ts'

/** Curves by the DER encoding of their object identifier, which is what CKA_EC_PARAMS contains. */
const CURVES: Readonly<Record<string, string>> = {
  '06082a8648ce3d030107': 'P-256',
  '06052b81040022': 'P-384',
  '06052b81040023': 'P-521',
}
/** Ed25519 by its name (PKCS#11 3.0) and by its object identifier. */
const ED25519 = ['130c656477617264733235353139', '06032b6570', '06092b06010401da470f01']

/** The type of a key that TLS can use; undefined for any other. */
export type KeyKind = 'RSA' | 'P-256' | 'P-384' | 'P-521' | 'Ed25519' | undefined

/** Returns the type of a private or public key. */
export function keyKindOf(session: Session, object: Handle): KeyKind {
  const type = readAttribute(session, object, CKA_KEY_TYPE)
  const number = type === undefined ? undefined : readUlong(type)
  if (number === CKK_RSA) return 'RSA'
  const curve = readAttribute(session, object, CKA_EC_PARAMS)?.toString('hex') ?? ''
  if (number === CKK_EC_EDWARDS) return ED25519.includes(curve) ? 'Ed25519' : undefined
  return number === CKK_EC ? (CURVES[curve] as KeyKind) : undefined
}

/** Reads a public key. Returns undefined if it cannot be read or TLS cannot use it. */
export function readPublicKey(session: Session, object: Handle): KeyObject | undefined {
  const kind = keyKindOf(session, object)
  try {
    if (kind === 'RSA') return readRsa(session, object)
    return kind === undefined ? undefined : readCurve(session, object, kind)
  } catch {
    return undefined
  }
}

function readRsa(session: Session, object: Handle): KeyObject | undefined {
  const n = readAttribute(session, object, CKA_MODULUS)
  const e = readAttribute(session, object, CKA_PUBLIC_EXPONENT)
  if (n === undefined || e === undefined) return undefined
  const key = { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') }
  return createPublicKey({ key, format: 'jwk' })
}

function readCurve(session: Session, object: Handle, kind: string): KeyObject | undefined {
  const point = readAttribute(session, object, CKA_EC_POINT)
  if (point === undefined) return undefined
  const bytes = unwrapOctets(point)
  if (kind === 'Ed25519') {
    const key = { kty: 'OKP', crv: kind, x: bytes.toString('base64url') }
    return createPublicKey({ key, format: 'jwk' })
  }
  const half = (bytes.length - 1) / 2
  const x = bytes.subarray(1, 1 + half).toString('base64url')
  const y = bytes.subarray(1 + half).toString('base64url')
  return createPublicKey({ key: { kty: 'EC', crv: kind, x, y }, format: 'jwk' })
}

/** The point is a DER OCTET STRING. Some libraries omit the wrapping; the length distinguishes the two. */
function unwrapOctets(point: Buffer): Buffer {
  const [tag, length = 0, long = 0] = point
  if (tag !== 0x04) return point
  if (length === 0x81 && long === point.length - 3) return point.subarray(3)
  return length === point.length - 2 ? point.subarray(2) : point
}
