const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
/** Record header, message header, version and random. */
const FIXED_BYTES = 5 + 4 + 2 + 32

/** Describes the first bytes of a connection: whether they are TLS, and the server name (RFC 8446 4.1.2, RFC 6066 3). */
export function describeHello(hello: Buffer): string {
  if (hello[0] !== HANDSHAKE || hello[5] !== CLIENT_HELLO) return 'no TLS'
  let at = FIXED_BYTES
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  const end = at + 2 + hello.readUInt16BE(at)
  for (at += 2; at < end; at += 4 + hello.readUInt16BE(at + 2)) {
    if (hello.readUInt16BE(at) !== SERVER_NAME) continue
    const length = hello.readUInt16BE(at + 7)
    return `TLS for ${hello.toString('latin1', at + 9, at + 9 + length)}`
  }
  return 'TLS'
}
