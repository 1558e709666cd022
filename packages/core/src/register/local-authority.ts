import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import {
  bits,
  identifier,
  integer,
  octets,
  sequence,
  set,
  tagged,
  text,
  time,
  truth,
  value,
} from './der.ts'

/** The certificate of a server on this machine, and its key. Both PEM. */
export interface ServerCertificate {
  readonly certificate: string
  readonly key: string
}

/** A certificate authority for servers at 127.0.0.1. Its key is in memory only. */
export interface LocalAuthority {
  /** PEM. */
  readonly certificate: string
  /** Issues a certificate with a new key, valid for a week. */
  issue(): ServerCertificate
}

const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS
const YEAR_MS = 365 * 24 * HOUR_MS
const ECDSA_WITH_SHA256 = sequence(identifier('1.2.840.10045.4.3.2'))
const COMMON_NAME = '2.5.4.3'
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'

/**
 * Creates a certificate authority for the proxy of one program.
 *
 * It uses no library, because one takes 0.3 s to load before each program.
 *
 * @param now Milliseconds since the epoch.
 */
export function makeLocalAuthority(now: () => number): LocalAuthority {
  const keys = makeKeys()
  const issuer = named('kubecred run')
  const identity = keyIdentifier(keys.publicKey)
  const base = { issuer, signer: keys.privateKey, signerIdentity: identity }
  return {
    certificate: makeCertificate({
      ...base,
      subject: issuer,
      publicKey: keys.publicKey,
      from: now() - HOUR_MS,
      until: now() + YEAR_MS * 10,
      extensions: [
        critical('2.5.29.19', sequence(truth())),
        // Bits 5 and 6: keyCertSign and cRLSign.
        critical('2.5.29.15', bits(Buffer.from([0x06]), 1)),
      ],
    }),
    issue() {
      const own = makeKeys()
      const certificate = makeCertificate({
        ...base,
        subject: named('127.0.0.1'),
        publicKey: own.publicKey,
        from: now() - HOUR_MS,
        until: now() + WEEK_MS,
        extensions: [
          critical('2.5.29.19', sequence()),
          // Bit 0: digitalSignature.
          critical('2.5.29.15', bits(Buffer.from([0x80]), 7)),
          extension('2.5.29.37', sequence(identifier(SERVER_AUTHENTICATION))),
          extension('2.5.29.17', sequence(addressName([127, 0, 0, 1]), hostName('localhost'))),
        ],
      })
      return {
        certificate,
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}

interface Contents {
  readonly issuer: Buffer
  readonly signer: KeyObject
  readonly signerIdentity: Buffer
  readonly subject: Buffer
  readonly publicKey: KeyObject
  readonly from: number
  readonly until: number
  readonly extensions: readonly Buffer[]
}

/** RFC 5280, section 4.1. */
function makeCertificate(contents: Contents): string {
  const { issuer, signer, signerIdentity, subject, publicKey, from, until, extensions } = contents
  const serial = randomBytes(16)
  // Positive, and without a leading zero.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const content = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(time(new Date(from)), time(new Date(until))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      3,
      sequence(
        ...extensions,
        extension('2.5.29.14', octets(keyIdentifier(publicKey))),
        extension('2.5.29.35', sequence(value(0x80, signerIdentity))),
      ),
    ),
  )
  const whole = sequence(content, ECDSA_WITH_SHA256, bits(sign('sha256', content, signer)))
  return new X509Certificate(whole).toString()
}

function makeKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20)
}

const named = (name: string): Buffer => sequence(set(sequence(identifier(COMMON_NAME), text(name))))
const extension = (type: string, content: Buffer): Buffer =>
  sequence(identifier(type), octets(content))
const critical = (type: string, content: Buffer): Buffer =>
  sequence(identifier(type), truth(), octets(content))
const addressName = (bytes: readonly number[]): Buffer => value(0x87, Buffer.from(bytes))
const hostName = (name: string): Buffer => value(0x82, Buffer.from(name))
