import { malformed } from './handshake-problem.ts'

/**
 * Reads the presentation language of RFC 8446, section 3: numbers, and vectors with their length before them.
 *
 * @throws {HandshakeProblem} There are fewer bytes than the message says, or more.
 */
export class ByteReader {
  readonly #bytes: Buffer
  readonly #name: string
  #at = 0

  /** @param name What is read, for the error. */
  constructor(bytes: Buffer, name: string) {
    this.#bytes = bytes
    this.#name = name
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  uint8(): number {
    return this.take(1).readUInt8()
  }

  uint16(): number {
    return this.take(2).readUInt16BE()
  }

  uint24(): number {
    return this.take(3).readUIntBE(0, 3)
  }

  take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw malformed(`${this.#name} ends too early`)
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  /** A vector whose length is in one byte. */
  vector8(): Buffer {
    return this.take(this.uint8())
  }

  /** A vector whose length is in two bytes. */
  vector16(): Buffer {
    return this.take(this.uint16())
  }

  /** Says that nothing may follow. */
  end(): void {
    if (!this.isAtEnd) throw malformed(`${this.#name} has bytes after its end`)
  }
}
