/** Whether a text can be the value of an HTTP header: printable ASCII, no white space at its ends. */
export function isHeaderSafe(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)
}
