/** Numbers and vectors as RFC 8446, section 3 writes them. The lengths are ours: they fit. */
export function uint8(value: number): Buffer {
  return Buffer.of(value)
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeUInt16BE(value)
  return bytes
}

export function uint24(value: number): Buffer {
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
