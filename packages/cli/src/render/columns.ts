// Not string-width: it is slightly more exact for rare scripts, but compiles a table of all emoji when it is loaded,
// which takes as long as starting Node.
import columnsOf from 'fast-string-width'

/** Returns the width of printable text in terminal columns. */
export { columnsOf }

/** Pads text with spaces to a number of columns. */
export function fill(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

/** Truncates text to a number of columns, with an ellipsis as the last one. */
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
