import type { ContextSummary } from 'kubecred/diagnose'
import type { Palette } from './colour.ts'
import { columnsOf, cut, fill } from './columns.ts'
import { describeSource } from './describe-source.ts'
import { formatDuration } from './format-duration.ts'
import { printableLine } from './printable.ts'

/** What is known of one context: what its files say, and what became of its plugin. */
export interface ContextStatus extends ContextSummary {
  /** When it was last fetched, in milliseconds since the epoch. */
  readonly ranAt?: number
  readonly tookMs?: number
}

/** What a column needs so that it still tells something. */
const SHORTEST_SOURCE = 16
const LONGEST_SOURCE = 40
const SHORTEST_STATE = 28
const BETWEEN = 2

/** One line per context, or two where the terminal is too narrow for the names. The current one is marked. */
export function statusTable(
  rows: readonly ContextStatus[],
  palette: Palette,
  { now, columns }: { now: number; columns: number },
): string {
  if (rows.length === 0) return 'There is no context in the kubeconfig.\n'
  const cells = rows.map((row) => ({
    row,
    mark: row.isCurrent ? '*' : ' ',
    name: printableLine(row.context),
    source: row.source === undefined ? '' : describeShortly(row.source),
    state: stateText(row, now),
    paint: paintFor(row, palette),
  }))
  const nameWidth = widest(7, cells, 'name')
  const room = columns - 2 - nameWidth - 2 * BETWEEN - SHORTEST_STATE
  if (room < SHORTEST_SOURCE) return cells.map((cell) => stacked(cell, columns)).join('')
  const sourceWidth = Math.min(widest(6, cells, 'source'), LONGEST_SOURCE, room)
  const stateWidth = columns - 2 - nameWidth - sourceWidth - 2 * BETWEEN
  const lines = cells.map(({ mark, name, source, state, paint }) => {
    const begin = `${mark} ${fill(name, nameWidth)}  ${fill(cut(source, sourceWidth), sourceWidth)}  `
    return `${begin}${paint(cut(state, stateWidth))}`
  })
  const head = `  ${'CONTEXT'.padEnd(nameWidth)}  ${'SOURCE'.padEnd(sourceWidth)}  STATE`
  return `${[palette.bold(head), ...lines].join('\n')}\n`
}

interface Cell {
  readonly mark: string
  readonly name: string
  readonly source: string
  readonly state: string
  readonly paint: (text: string) => string
}

/** The name whole, so that it can be copied, and all else below it. */
function stacked({ mark, name, source, state, paint }: Cell, columns: number): string {
  const begin = source === '' ? '    ' : `    ${cut(source, Math.floor(columns / 2) - 6)}: `
  return `${mark} ${name}\n${begin}${paint(cut(state, columns - columnsOf(begin)))}\n`
}

function widest(least: number, cells: readonly Cell[], of: 'name' | 'source'): number {
  return cells.reduce((width, cell) => Math.max(width, columnsOf(cell[of])), least)
}

/** All of them are exec plugins, and all are given in the kubeconfig. */
function describeShortly(source: NonNullable<ContextStatus['source']>): string {
  return describeSource(source)
    .replace(/^exec plugin/, 'plugin')
    .replace(/ given in the kubeconfig or by flag$/, ' in the kubeconfig')
}

/** How a credential is doing, as one says it: `valid for 11 min`, `expired 3 h ago`. */
export function stateText(row: ContextStatus, now: number): string {
  const { state, expiresAt, problem, ranAt, tookMs } = row
  const ran =
    ranAt === undefined
      ? ''
      : `, fetched ${formatDuration(now - ranAt)} ago${tookMs === undefined ? '' : ` in ${formatDuration(tookMs)}`}`
  switch (state) {
    case 'valid':
      return `${expiresAt === undefined ? 'valid, without an end' : `valid for ${formatDuration(expiresAt - now)}`}${ran}`
    case 'expired':
      return `expired ${formatDuration(now - (expiresAt ?? now))} ago${ran}`
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
