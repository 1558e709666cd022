import { malformed } from './alert.ts'

/**
 * Reads the presentation language of RFC 8446, section 3: integers, and vectors with a length prefix.
 *
 * @throws {HandshakeError} There are fewer or more bytes than the lengths say.
 */
export class ByteReader {
  readonly #bytes: Buffer
  readonly #name: string
  #at = 0

  /** @param name What is read, for error messages. */
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
    if (end > this.#bytes.length) throw malformed(`${this.#name} is truncated`)
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  /** Reads a vector with a length prefix of one byte. */
  vector8(): Buffer {
    return this.take(this.uint8())
  }

  /** Reads a vector with a length prefix of two bytes. */
  vector16(): Buffer {
    return this.take(this.uint16())
  }

  /** Checks that all bytes have been read. */
  end(): void {
    if (!this.isAtEnd) throw malformed(`${this.#name} has trailing bytes`)
  }
}

// The encoders below do not check lengths: all callers pass values that fit.

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

/** Encodes a handshake message: type, length and body (RFC 8446, section 4). */
export function handshakeMessage(type: number, ...body: readonly Uint8Array[]): Buffer {
  return Buffer.concat([uint8(type), vector24(...body)])
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}
