import { createHash, type Hash } from 'node:crypto'
import { handshakeMessage } from './byte-writer.ts'
import type { CipherSuite } from './cipher-suites.ts'
import { MESSAGE } from './wire-numbers.ts'

/** The hash over all messages of a handshake, which both sides sign (RFC 8446, section 4.4.1). */
export class Transcript {
  readonly #hash: Hash

  constructor({ hash }: Pick<CipherSuite, 'hash'>) {
    this.#hash = createHash(hash)
  }

  /** @param message With its header. */
  add(message: Uint8Array): this {
    this.#hash.update(message)
    return this
  }

  /** The hash of what was added so far. */
  digest(): Buffer {
    return this.#hash.copy().digest()
  }

  /** As it would be if `messages` came next. */
  digestWith(...messages: readonly Uint8Array[]): Buffer {
    const ahead = this.#hash.copy()
    for (const message of messages) ahead.update(message)
    return ahead.digest()
  }
}

/** What takes the place of the first ClientHello in the transcript after a HelloRetryRequest. */
export function messageHash({ hash }: Pick<CipherSuite, 'hash'>, clientHello: Uint8Array): Buffer {
  return handshakeMessage(MESSAGE.messageHash, createHash(hash).update(clientHello).digest())
}
