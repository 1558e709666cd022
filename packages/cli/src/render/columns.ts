/** What terminals show two columns wide: East Asian scripts, their full-width forms and punctuation, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3001-\u303e\uff01-\uff60\uffe0-\uffe6]/u
/** Half-width forms of the same scripts. */
const NARROW = /[\uff61-\uffdc]/
/** Marks that stand on the character before them. */
const COMBINING = /\p{M}/u
/** Most text is: one column for each character. */
const PLAIN = /^[\x20-\x7e]*$/

/** How many columns of a terminal printable text takes. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += widthOf(character)
  return columns
}

/** Fills text up with spaces to a number of columns. */
export function fill(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

/** Cuts text to a number of columns, the last of them an ellipsis if something is missing. */
export function cut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let kept = ''
  let room = columns - 1
  for (const character of text) {
    room -= widthOf(character)
    if (room < 0) break
    kept += character
  }
  return `${kept}…`
}

function widthOf(character: string): number {
  if (NARROW.test(character)) return 1
  if (WIDE.test(character)) return 2
  return COMBINING.test(character) ? 0 : 1
}
