// The DER values that a certificate needs (X.690), each encoded with its tag and length.

/** Encodes one value: tag, length, content. */
export function value(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const whole = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag]), lengthOf(whole), whole])
}

/** A SEQUENCE. */
export const sequence = (...parts: readonly Uint8Array[]): Buffer => value(0x30, ...parts)
/** A SET. */
export const set = (...parts: readonly Uint8Array[]): Buffer => value(0x31, ...parts)
/** An OCTET STRING. */
export const octets = (content: Uint8Array): Buffer => value(0x04, content)
/** A UTF8String. */
export const text = (content: string): Buffer => value(0x0c, Buffer.from(content))
/** The BOOLEAN true. */
export const truth = (): Buffer => value(0x01, Buffer.from([0xff]))

/** A context-specific, constructed value. */
export const tagged = (number: number, ...parts: readonly Uint8Array[]): Buffer =>
  value(0xa0 | number, ...parts)

/** A BIT STRING, of which the last few bits may be unused. */
export const bits = (content: Uint8Array, unused = 0): Buffer =>
  value(0x03, Buffer.from([unused]), content)

/** A non-negative INTEGER: a zero byte is added if the first bit is set. */
export function integer(bytes: Uint8Array): Buffer {
  const isNegative = (bytes[0] ?? 0) > 0x7f
  return value(0x02, ...(isNegative ? [Buffer.from([0])] : []), bytes)
}

/** An OBJECT IDENTIFIER such as `2.5.4.3`. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return value(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** A time in whole seconds: UTCTime before 2050, else GeneralizedTime (RFC 5280, section 4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/[-:T]|\.\d+Z/g, '')}Z`
  const isShort = at.getUTCFullYear() < 2050
  return isShort ? value(0x17, Buffer.from(digits.slice(2))) : value(0x18, Buffer.from(digits))
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = [length >> 16, length >> 8, length].map((part) => part & 0xff)
  const needed = bytes.slice(bytes.findIndex((part) => part !== 0))
  return Buffer.from([0x80 | needed.length, ...needed])
}

/** Base 128, with the highest bit set on all bytes but the last. */
function base128(number: number): number[] {
  const parts = [number & 0x7f]
  for (let rest = number >> 7; rest > 0; rest >>= 7) parts.unshift(0x80 | (rest & 0x7f))
  return parts
}
