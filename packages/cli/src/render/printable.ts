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

/** The same for what a program writes to standard error: a carriage return ends a line there. */
export function printableOutput(text: string): string {
  return printable(text.replace(/\r+\n?/g, '\n'))
}

/** The same for JSON, with its own escapes: `JSON.stringify` leaves DEL, C1 and bidirectional controls as they are. */
export function printableJson(json: string): string {
  return json.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' ? character : character.split('').map(jsonEscape).join(''),
  )
}

/** Characters beyond U+FFFF need two, one for each half. */
function jsonEscape(half: string): string {
  return `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The same on one line. */
export function printableLine(text: string): string {
  return printable(text.replace(/\s*[\r\n]+\s*/g, ' ').trim())
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
