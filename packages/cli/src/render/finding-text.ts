import type { Finding } from 'kubecred/diagnose'
import type { Palette } from './colour.ts'
import { formatDuration } from './format-duration.ts'
import { printableLine } from './printable.ts'
import { wrapText } from './wrap-text.ts'

const NAME_WIDTH = 12
const MARK_WIDTH = 2
const INDENT = ' '.repeat(MARK_WIDTH + NAME_WIDTH)
/** Shorter durations are not shown. */
const MIN_SHOWN_MS = 100

const MARKS = { ok: '✓', warning: '!', error: '✗', skipped: '-' } as const

/** Formats one step of `doctor` for a terminal: mark, name, result, and remedy. */
export function findingText(finding: Finding, palette: Palette, columns: number): string {
  const { step, verdict, summary, details, remedy, tookMs } = finding
  const width = columns - INDENT.length
  const paint = paintFor(verdict, palette)
  const time = tookMs >= MIN_SHOWN_MS ? ` (${formatDuration(tookMs)})` : ''
  const [first = '', ...rest] = wrapText(printableLine(summary) + time, width)
  const lines = [
    `${paint(MARKS[verdict])} ${palette.bold(step.padEnd(NAME_WIDTH))}${first}`,
    ...rest.map((line) => INDENT + line),
    ...details.flatMap((detail) =>
      wrapText(printableLine(detail), width).map((line) => INDENT + palette.dim(line)),
    ),
  ]
  if (remedy !== undefined && verdict !== 'ok') {
    const [begin = '', ...more] = wrapText(printableLine(remedy), width - 2)
    lines.push(`${INDENT}${paint('→')} ${begin}`, ...more.map((line) => `${INDENT}  ${line}`))
  }
  return `${lines.join('\n')}\n`
}

function paintFor(verdict: Finding['verdict'], palette: Palette): (text: string) => string {
  const { green, yellow, red, dim } = palette
  return { ok: green, warning: yellow, error: red, skipped: dim }[verdict]
}
