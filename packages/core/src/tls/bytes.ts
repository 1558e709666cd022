import { malformed } from './alert.ts'

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

/** Numbers and vectors as RFC 8446, section 3 writes them. The lengths are ours: they fit. */
export function uint8(value: number): Buffer {
  return Buffer.of(value)
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function uint24(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(3)
  bytes.writeUIntBE(value, 0, 3)
  return bytes
}

export function vector8(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([uint8(lengthOf(parts)), ...parts])
}

export function vector16(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([uint16(lengthOf(parts)), ...parts])
}

export function vector24(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([uint24(lengthOf(parts)), ...parts])
}

/** A handshake message: its type, its length, its body. */
export function handshakeMessage(type: number, ...body: readonly Uint8Array[]): Buffer {
  return Buffer.concat([uint8(type), vector24(...body)])
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}
