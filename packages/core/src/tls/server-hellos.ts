import { withoutChangeCipherSpec } from './change-cipher-spec.ts'
import type { CipherSuite } from './cipher-suites.ts'
import { HandshakeProblem, unexpected } from './handshake-problem.ts'
import { type HandshakeMessage, MessageJoiner } from './messages.ts'
import { RecordSplitter, type TlsRecord } from './records.ts'
import { readServerHello, type ServerHello } from './server-hello.ts'
import { ALERT, MESSAGE, RECORD } from './wire-numbers.ts'

/** What a server says in the clear, and the records after it. */
export interface ServerHellos {
  readonly suite: CipherSuite
  /** There only if the server asked the client to begin again. */
  readonly retry: HandshakeMessage | undefined
  readonly hello: HandshakeMessage
  readonly encrypted: readonly TlsRecord[]
}

interface Hello extends ServerHello {
  readonly message: HandshakeMessage
}

/**
 * Reads the beginning of what a server sent: a HelloRetryRequest perhaps, then its ServerHello.
 *
 * @throws {HandshakeProblem} Something else is there, or something is missing.
 */
export function readServerHellos(bytes: Buffer): ServerHellos {
  const records = new RecordSplitter().push(bytes)
  const joiner = new MessageJoiner()
  let retry: Hello | undefined
  for (const [index, record] of withoutChangeCipherSpec(records, joiner)) {
    const hello = takeHello(record, joiner)
    if (hello === undefined) continue
    checkAfter(retry, hello)
    if (hello.isRetry) retry = hello
    else {
      const { message, suite } = hello
      return { suite, retry: retry?.message, hello: message, encrypted: records.slice(index + 1) }
    }
  }
  throw unexpected('the server sent no ServerHello')
}

function takeHello({ type, fragment }: TlsRecord, joiner: MessageJoiner): Hello | undefined {
  if (type !== RECORD.handshake) throw unexpected('the server began with no ServerHello')
  const [message, more] = joiner.push(fragment)
  if (message === undefined) return undefined
  if (message.type !== MESSAGE.serverHello) throw unexpected('the server began with no ServerHello')
  // The keys change after it: nothing else may be in its last record.
  if (more !== undefined || !joiner.isBetween) throw unexpected('a ServerHello has an appendix')
  return { ...readServerHello(message), message }
}

function checkAfter(retry: Hello | undefined, hello: Hello): void {
  if (retry === undefined) return
  if (hello.isRetry) throw unexpected('the server asked twice to begin again')
  if (retry.suite !== hello.suite) {
    throw new HandshakeProblem(ALERT.illegalParameter, 'the server changed its cipher suite')
  }
}
