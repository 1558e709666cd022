import { malformed, unexpected } from './handshake-problem.ts'
import type { MessageJoiner } from './messages.ts'
import type { TlsRecord } from './records.ts'
import { RECORD } from './wire-numbers.ts'

/**
 * Leaves out the records that mean nothing in TLS 1.3, and are only there for boxes on the way (RFC 8446, appendix D.4).
 *
 * @param joiner Knows whether a message has begun: within one, no other record may come.
 * @yields The place of each other record, and the record.
 */
export function* withoutChangeCipherSpec(
  records: readonly TlsRecord[],
  joiner: MessageJoiner,
): Generator<[number, TlsRecord]> {
  for (const [index, record] of records.entries()) {
    if (record.type !== RECORD.changeCipherSpec) yield [index, record]
    else if (!joiner.isBetween) throw unexpected('a message was interrupted by another record')
    else if (!record.fragment.equals(ONE)) throw malformed('an odd change of cipher spec')
  }
}

const ONE = Buffer.of(1)
