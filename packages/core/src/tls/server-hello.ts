import { ByteReader } from './byte-reader.ts'
import { type CipherSuite, cipherSuite } from './cipher-suites.ts'
import { readExtensions } from './extensions.ts'
import { HandshakeProblem } from './handshake-problem.ts'
import type { HandshakeMessage } from './messages.ts'
import { ALERT, EXTENSION, TLS_1_3 } from './wire-numbers.ts'

/** What we need to know of a ServerHello. */
export interface ServerHello {
  /** It is a HelloRetryRequest: the client begins again with another key. */
  readonly isRetry: boolean
  readonly suite: CipherSuite
}

const NAME = 'the ServerHello'
const RANDOM_LENGTH = 32
/** The random of a ServerHello that is a HelloRetryRequest (RFC 8446, section 4.1.3). */
const RETRY = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex')

/** @throws {HandshakeProblem} It is not TLS 1.3, resumes a session, or has a cipher suite we do not know. */
export function readServerHello({ body }: HandshakeMessage): ServerHello {
  const reader = new ByteReader(body, NAME)
  reader.uint16()
  const isRetry = reader.take(RANDOM_LENGTH).equals(RETRY)
  reader.vector8()
  const suite = cipherSuite(reader.uint16())
  const compression = reader.uint8()
  const extensions = readExtensions(reader, NAME)
  reader.end()
  if (extensions.get(EXTENSION.supportedVersions)?.equals(VERSION) !== true) {
    throw illegal('the server does not speak TLS 1.3')
  }
  if (suite === undefined) throw illegal('the server chose a cipher suite that is not known here')
  if (compression !== 0) throw illegal('the server chose a compression')
  if (extensions.has(EXTENSION.preSharedKey)) throw illegal('the server resumed a session')
  return { isRetry, suite }
}

const VERSION = Buffer.of(TLS_1_3 >> 8, TLS_1_3 & 0xff)

function illegal(what: string): HandshakeProblem {
  return new HandshakeProblem(ALERT.illegalParameter, what)
}
