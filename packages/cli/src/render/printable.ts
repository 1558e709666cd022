/**
 * Makes text from a server or a file harmless: an escape sequence in it must not steer the terminal.
 *
 * Line breaks stay, so that longer messages can be read.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )
}

/** The same on one line. */
export function printableLine(text: string): string {
  return printable(text.replace(/\s*[\r\n]+\s*/g, ' ').trim())
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
