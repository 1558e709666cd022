// Not string-width: it is a little more exact about scripts that are rare in names, but compiles the table of all emoji
// when it is loaded, which takes as long as the start of Node.
import columnsOf from 'fast-string-width'

/** How many columns of a terminal printable text takes. */
export { columnsOf }

/** Fills text up with spaces to a number of columns. */
export function fill(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

/** Cuts text to a number of columns, the last of them an ellipsis if something is missing. */
export function cut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let kept = ''
  let room = columns - 1
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    room -= columnsOf(segment)
    if (room < 0) break
    kept += segment
  }
  return `${kept}…`
}
