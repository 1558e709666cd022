import { decodeBytes } from '../protocol/base64.ts'

/** Decodes standard base64 into text, as strictly as Go does. Gives undefined for anything else. */
export function decodeBase64(encoded: string): string | undefined {
  const bytes = decodeBytes(encoded)
  return bytes && new TextDecoder().decode(bytes)
}
