/**
 * Writes an ECDSA signature in DER, as TLS has it, from the two numbers one after another (r || s), as PKCS#11,
 * WebCrypto and most cloud services give it.
 *
 * @throws {TypeError} When the two halves cannot be of equal length.
 */
export function ecdsaToDer(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  if (half === 0 || !Number.isInteger(half)) {
    throw new TypeError(`r || s has an even number of bytes, not ${signature.length}`)
  }
  const body = Buffer.concat([
    derInteger(signature.subarray(0, half)),
    derInteger(signature.subarray(half)),
  ])
  return Buffer.concat([derHead(0x30, body.length), body])
}

/** Whether it is a DER SEQUENCE of two INTEGERs and nothing else. */
export function isEcdsaDer(signature: Uint8Array): boolean {
  const body = readDer(signature, 0x30)
  if (body === undefined || body.rest.length > 0) return false
  const r = readDer(body.value, 0x02)
  const s = r && readDer(r.rest, 0x02)
  return s !== undefined && s.rest.length === 0
}

function derInteger(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first === -1 ? Uint8Array.of(0) : bytes.subarray(first)
  // A first bit that is set would make the number negative.
  const sign = (digits[0] ?? 0) >= 0x80 ? [0] : []
  return Buffer.from([0x02, sign.length + digits.length, ...sign, ...digits])
}

/** Up to 255 bytes, which is more than P-521 needs. */
function derHead(tag: number, length: number): Uint8Array {
  return Uint8Array.from(length < 0x80 ? [tag, length] : [tag, 0x81, length])
}

function readDer(
  bytes: Uint8Array,
  tag: number,
): { value: Uint8Array; rest: Uint8Array } | undefined {
  const [first, short = 0, long = 0] = bytes
  const isLong = short === 0x81
  const length = isLong ? long : short
  const start = isLong ? 3 : 2
  const isGood = first === tag && length > 0 && (isLong ? length >= 0x80 : length < 0x80)
  if (!isGood || bytes.length < start + length) return undefined
  return { value: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) }
}
