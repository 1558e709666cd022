import { columnsOf } from './columns.ts'

/** Wraps text at spaces into lines of at most `width` columns. A longer word is not broken, so that it can be copied. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    let used = 0
    for (const word of paragraph.split(' ')) {
      const columns = columnsOf(word)
      if (line !== '' && used + 1 + columns > width) {
        lines.push(line)
        line = ''
      }
      used = line === '' ? columns : used + 1 + columns
      line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  return lines
}
