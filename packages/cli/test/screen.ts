const ESCAPE = '\u001b'
const ERASE_LINE = `${ESCAPE}[2K`

/** Returns the final screen for what was written to a terminal: applies carriage returns and erased lines. */
export function screenOf(written: string): string {
  const lines = ['']
  const parts = new RegExp(`\\r?\\n|\\r|${ESCAPE}\\[[\\d;?]*[A-Za-z]|[^\\r\\n${ESCAPE}]+`, 'g')
  for (const [part] of written.matchAll(parts)) {
    if (part.endsWith('\n')) lines.push('')
    else if (part === ERASE_LINE) lines[lines.length - 1] = ''
    // Only a carriage return with an erased line is supported.
    else if (part !== '\r' && !part.startsWith(ESCAPE)) lines[lines.length - 1] += part
  }
  return lines.join('\n')
}
