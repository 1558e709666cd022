import type { Surveyed } from 'kubecred/diagnose'
import type { Palette } from './colour.ts'
import { describeSource } from './describe-source.ts'
import { printableLine } from './printable.ts'
import { describeTime } from './time.ts'

/** What is known of one context: what its files say, and what became of its plugin. */
export interface ContextStatus extends Surveyed {
  /** When it was last fetched, in milliseconds since the epoch. */
  readonly ranAt?: number
  readonly tookMs?: number
}

const LONGEST_SOURCE = 40

/** One line per context. The current one is marked. */
export function statusTable(
  rows: readonly ContextStatus[],
  palette: Palette,
  { now, columns }: { now: number; columns: number },
): string {
  if (rows.length === 0) return 'There is no context in the kubeconfig.\n'
  const cells = rows.map((row) => ({
    row,
    name: printableLine(row.context),
    source: shorten(row.source === undefined ? '' : describeSource(row.source)),
  }))
  const nameWidth = Math.max(7, ...cells.map(({ name }) => name.length))
  const sourceWidth = Math.max(6, ...cells.map(({ source }) => source.length))
  const head = `  ${'CONTEXT'.padEnd(nameWidth)}  ${'SOURCE'.padEnd(sourceWidth)}  STATE`
  const lines = cells.map(({ row, name, source }) => {
    const begin = `${row.isCurrent ? '*' : ' '} ${name.padEnd(nameWidth)}  ${source.padEnd(sourceWidth)}  `
    const state = cut(stateText(row, now), Math.max(20, columns - begin.length))
    return `${begin}${paintFor(row, palette)(state)}`
  })
  return `${[palette.bold(head), ...lines].join('\n')}\n`
}

/** How a credential is doing, as one says it: `valid for 11 min`, `expired 3 h ago`. */
export function stateText(row: ContextStatus, now: number): string {
  const { state, expiresAt, problem, ranAt, tookMs } = row
  const ran =
    ranAt === undefined
      ? ''
      : `, fetched ${describeTime(now - ranAt)} ago${tookMs === undefined ? '' : ` in ${describeTime(tookMs)}`}`
  switch (state) {
    case 'valid':
      return `${expiresAt === undefined ? 'valid, without an end' : `valid for ${describeTime(expiresAt - now)}`}${ran}`
    case 'expired':
      return `expired ${describeTime(now - (expiresAt ?? now))} ago${ran}`
    case 'anonymous':
      return 'anonymous: no credential'
    case 'broken':
      return `broken: ${printableLine(problem?.message ?? 'no reason given')}`
    case 'unknown':
      return 'not fetched yet'
  }
}

function paintFor({ state }: ContextStatus, palette: Palette): (text: string) => string {
  const { green, red, yellow, dim } = palette
  return { valid: green, expired: red, broken: red, anonymous: yellow, unknown: dim }[state]
}

function shorten(source: string): string {
  return cut(source, LONGEST_SOURCE)
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}
