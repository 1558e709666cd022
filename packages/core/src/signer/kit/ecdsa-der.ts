/**
 * Converts an ECDSA signature from r || s, as PKCS#11, WebCrypto and most cloud services return it, to DER, as TLS
 * needs it.
 *
 * @experimental
 *
 * @throws {TypeError} If the number of bytes is zero or odd.
 *
 * @example
 * const handlers: SignerHandlers = {
 *   certificate: () => readFile('/etc/signer/certificate.pem'),
 *   sign: async ({ digest }) => ecdsaToDer(await device.sign(digest)),
 * }
 */
export function ecdsaToDer(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  if (half === 0 || !Number.isInteger(half)) {
    throw new TypeError(
      `expected r || s with an even number of bytes, not ${signature.length} bytes`,
    )
  }
  const body = Buffer.concat([
    derInteger(signature.subarray(0, half)),
    derInteger(signature.subarray(half)),
  ])
  return Buffer.concat([derHead(0x30, body.length), body])
}

/** Whether the bytes are a DER SEQUENCE of two INTEGERs and nothing else. */
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
  // A leading zero keeps the number positive.
  const sign = (digits[0] ?? 0) >= 0x80 ? [0] : []
  return Buffer.from([0x02, sign.length + digits.length, ...sign, ...digits])
}

/** Supports up to 255 bytes, which is more than P-521 needs. */
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
