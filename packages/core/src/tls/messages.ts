import { malformed } from './handshake-problem.ts'

/** One handshake message. */
export interface HandshakeMessage {
  readonly type: number
  readonly body: Buffer
  /** Type, length and body, as the transcript has it. */
  readonly bytes: Buffer
}

const HEADER_LENGTH = 4
/** More than OpenSSL takes in a server's certificates, which are the longest message. */
export const MAX_MESSAGE = 2 ** 17

/**
 * Joins the fragments of handshake messages: several may share a record, one may need many.
 *
 * @throws {HandshakeProblem} A fragment is empty, or a message is longer than we follow.
 */
export class MessageJoiner {
  #pending: Buffer = Buffer.alloc(0)

  push(fragment: Buffer): HandshakeMessage[] {
    if (fragment.length === 0) throw malformed('an empty handshake record')
    this.#pending = this.#pending.length === 0 ? fragment : Buffer.concat([this.#pending, fragment])
    const messages: HandshakeMessage[] = []
    for (
      let next = readMessage(this.#pending);
      next !== undefined;
      next = readMessage(this.#pending)
    ) {
      messages.push(next)
      this.#pending = this.#pending.subarray(next.bytes.length)
    }
    return messages
  }

  /** Whether no message has begun that has not ended: only there may other records come, or other keys. */
  get isBetween(): boolean {
    return this.#pending.length === 0
  }
}

function readMessage(bytes: Buffer): HandshakeMessage | undefined {
  if (bytes.length < HEADER_LENGTH) return undefined
  const length = bytes.readUIntBE(1, 3)
  if (length > MAX_MESSAGE) throw malformed('a handshake message is too long')
  const end = HEADER_LENGTH + length
  if (bytes.length < end) return undefined
  return {
    type: bytes.readUInt8(0),
    body: bytes.subarray(HEADER_LENGTH, end),
    bytes: bytes.subarray(0, end),
  }
}
