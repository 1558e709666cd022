/** Decodes standard base64 with full padding into bytes, as strictly as Go does. Undefined for anything else. */
export function decodeBytes(encoded: string): Uint8Array | undefined {
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes : undefined
}
