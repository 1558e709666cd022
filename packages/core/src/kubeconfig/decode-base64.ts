/**
 * Decodes standard base64 into text, as strictly as Go does: full padding, and line breaks are the only
 * other characters allowed. Gives undefined for anything else.
 */
export function decodeBase64(encoded: string): string | undefined {
  const joined = encoded.replace(/[\r\n]/g, '')
  const body = joined.replace(/={1,2}$/, '')
  // Searching for one bad character needs no backtracking, however long the text is.
  if (joined.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(body)) return undefined
  const binary = atob(joined)
  return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
}
