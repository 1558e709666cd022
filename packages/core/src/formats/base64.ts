/**
 * Decodes standard base64 as strictly as Go does: padding is required, and line breaks are the only other characters
 * allowed.
 *
 * @returns Undefined for anything else.
 */
export function decodeBase64Bytes(encoded: string): Uint8Array | undefined {
  const joined = encoded.replace(/[\r\n]/g, '')
  const body = joined.replace(/={1,2}$/, '')
  // A search for one invalid character needs no backtracking, however long the text is.
  if (joined.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(body)) return undefined
  return Uint8Array.from(atob(joined), (character) => character.charCodeAt(0))
}

/** Encodes bytes as standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Decodes standard base64 into text, as strictly as Go does. Returns undefined for anything else. */
export function decodeBase64(encoded: string): string | undefined {
  const bytes = decodeBase64Bytes(encoded)
  return bytes && new TextDecoder().decode(bytes)
}
