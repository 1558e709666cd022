const ESCAPE = '\u001b'
const ERASE_LINE = `${ESCAPE}[2K`

/** What a person sees in the end of all that was written to a terminal: carriage returns and erased lines are done. */
export function screenOf(written: string): string {
  const lines = ['']
  const parts = new RegExp(`\\r?\\n|\\r|${ESCAPE}\\[[\\d;?]*[A-Za-z]|[^\\r\\n${ESCAPE}]+`, 'g')
  for (const [part] of written.matchAll(parts)) {
    if (part.endsWith('\n')) lines.push('')
    else if (part === ERASE_LINE) lines[lines.length - 1] = ''
    // What is written after a carriage return must have been erased before: only that is done here.
    else if (part !== '\r' && !part.startsWith(ESCAPE)) lines[lines.length - 1] += part
  }
  return lines.join('\n')
}
