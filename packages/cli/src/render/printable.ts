/**
 * Escapes control characters in text from a server or a file, so that it cannot control the terminal.
 *
 * Line breaks and tabs are kept.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )
}

/** The same for the output of a program, with carriage returns as line breaks. */
export function printableOutput(text: string): string {
  return printable(text.replace(/\r+\n?/g, '\n'))
}

/** The same for JSON, with JSON escapes: `JSON.stringify` does not escape DEL, C1 and bidirectional controls. */
export function printableJson(json: string): string {
  return json.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' ? character : character.split('').map(jsonEscape).join(''),
  )
}

/** Characters beyond U+FFFF need two escapes, one for each surrogate. */
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
