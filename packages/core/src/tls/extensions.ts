import type { ByteReader } from './byte-reader.ts'
import { ByteReader as Reader } from './byte-reader.ts'
import { HandshakeProblem } from './handshake-problem.ts'
import { ALERT } from './wire-numbers.ts'

/** Reads a list of extensions; each may be there once (RFC 8446, section 4.2). */
export function readExtensions(message: ByteReader, name: string): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>()
  const list = new Reader(message.vector16(), name)
  while (!list.isAtEnd) {
    const type = list.uint16()
    if (found.has(type)) {
      throw new HandshakeProblem(ALERT.illegalParameter, `${name} has an extension twice`)
    }
    found.set(type, list.vector16())
  }
  return found
}
