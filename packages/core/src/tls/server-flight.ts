import { withoutChangeCipherSpec } from './change-cipher-spec.ts'
import { unexpected } from './handshake-problem.ts'
import { type HandshakeMessage, MessageJoiner } from './messages.ts'
import type { RecordProtection } from './record-protection.ts'
import type { TlsRecord } from './records.ts'
import { MESSAGE, RECORD } from './wire-numbers.ts'

/**
 * Decrypts what a server sends after its ServerHello, up to its Finished.
 *
 * What comes after that is for other keys, and not looked at.
 *
 * @throws {HandshakeProblem} Messages are missing, in another order, or others than these.
 */
export function readServerFlight(
  records: readonly TlsRecord[],
  protection: RecordProtection,
): readonly HandshakeMessage[] {
  const joiner = new MessageJoiner()
  const messages: HandshakeMessage[] = []
  for (const [, record] of withoutChangeCipherSpec(records, joiner)) {
    for (const message of joiner.push(openHandshake(record, protection))) {
      checkAfter(messages.at(-1), message)
      messages.push(message)
    }
    if (messages.at(-1)?.type !== MESSAGE.finished) continue
    if (!joiner.isBetween) throw unexpected('a Finished has an appendix')
    return messages
  }
  throw unexpected('the server sent no Finished')
}

function openHandshake(record: TlsRecord, protection: RecordProtection): Buffer {
  if (record.type !== RECORD.applicationData) throw unexpected('the server stopped to encrypt')
  const { type, content } = protection.open(record)
  if (type !== RECORD.handshake) throw unexpected('the server interrupted its handshake')
  return content
}

/** What may come first, and after each (RFC 8446, section 4); since no session is resumed, all must be there. */
const FIRST: readonly number[] = [MESSAGE.encryptedExtensions]
const AFTER: ReadonlyMap<number, readonly number[]> = new Map([
  [MESSAGE.encryptedExtensions, [MESSAGE.certificateRequest, MESSAGE.certificate]],
  [MESSAGE.certificateRequest, [MESSAGE.certificate]],
  [MESSAGE.certificate, [MESSAGE.certificateVerify]],
  [MESSAGE.certificateVerify, [MESSAGE.finished]],
])

function checkAfter(last: HandshakeMessage | undefined, { type }: HandshakeMessage): void {
  const allowed = last === undefined ? FIRST : AFTER.get(last.type)
  if (allowed?.includes(type) !== true) {
    throw unexpected(`the server sent the message ${type} out of its turn`)
  }
}
