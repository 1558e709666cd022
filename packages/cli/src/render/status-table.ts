import type { ContextSummary } from 'kubecred/diagnose'
import { describeNeededLogin } from 'kubecred/internal'
import type { Palette } from './colour.ts'
import { columnsOf, cut, fill } from './columns.ts'
import { describeSource } from './describe-source.ts'
import { formatDuration } from './format-duration.ts'
import { printableLine } from './printable.ts'

/** The status of one context: what its files say, and the result of its plugin if it ran. */
export interface ContextStatus extends ContextSummary {
  /** When it was last fetched, in milliseconds since the epoch. */
  readonly ranAt?: number
  readonly tookMs?: number
  /** The command with which the plugin asks the user to log in. */
  readonly loginCommand?: string
}

/** Widths of the columns. */
const MIN_SOURCE = 16
const MAX_SOURCE = 40
const MIN_STATE = 28
const BETWEEN = 2

/** Formats one line per context, or two if the terminal is too narrow for the names. The current one is marked. */
export function statusTable(
  rows: readonly ContextStatus[],
  palette: Palette,
  { now, columns }: { now: number; columns: number },
): string {
  if (rows.length === 0) return 'The kubeconfig has no contexts.\n'
  const cells = rows.map((row) => ({
    row,
    mark: row.isCurrent ? '*' : ' ',
    name: printableLine(row.context),
    source: row.source === undefined ? '' : describeShortly(row.source),
    state: (width: number) => stateText(row, { now, width }),
    paint: paintFor(row, palette),
  }))
  const nameWidth = widest(7, cells, 'name')
  const room = columns - 2 - nameWidth - 2 * BETWEEN - MIN_STATE
  if (room < MIN_SOURCE) return cells.map((cell) => stacked(cell, columns)).join('')
  const sourceWidth = Math.min(widest(6, cells, 'source'), MAX_SOURCE, room)
  const stateWidth = columns - 2 - nameWidth - sourceWidth - 2 * BETWEEN
  const lines = cells.map(({ mark, name, source, state, paint }) => {
    const begin = `${mark} ${fill(name, nameWidth)}  ${fill(cut(source, sourceWidth), sourceWidth)}  `
    return `${begin}${paint(state(stateWidth))}`
  })
  const head = `  ${'CONTEXT'.padEnd(nameWidth)}  ${'SOURCE'.padEnd(sourceWidth)}  STATE`
  return `${[palette.bold(head), ...lines].join('\n')}\n`
}

interface Cell {
  readonly mark: string
  readonly name: string
  readonly source: string
  readonly state: (width: number) => string
  readonly paint: (text: string) => string
}

/** The full name, so that it can be copied, and everything else on the next line. */
function stacked({ mark, name, source, state, paint }: Cell, columns: number): string {
  const begin = source === '' ? '    ' : `    ${cut(source, Math.floor(columns / 2) - 6)}: `
  return `${mark} ${name}\n${begin}${paint(state(columns - columnsOf(begin)))}\n`
}

function widest(min: number, cells: readonly Cell[], of: 'name' | 'source'): number {
  return cells.reduce((width, cell) => Math.max(width, columnsOf(cell[of])), min)
}

/** Leaves out what is the same for all contexts. */
function describeShortly(source: NonNullable<ContextStatus['source']>): string {
  return describeSource(source)
    .replace(/^exec plugin/, 'plugin')
    .replace(/ from the kubeconfig or a flag$/, ' in the kubeconfig')
}

/**
 * Describes the state of a credential within a number of columns, such as `expires in 11 min` or `expired 3 h ago`.
 *
 * It never says that a credential is valid: only the server can, and it is not asked.
 */
function stateText(row: ContextStatus, { now, width }: { now: number; width: number }): string {
  const { state, expiresAt, problem, ranAt, tookMs, loginCommand } = row
  if (loginCommand !== undefined)
    return cut(describeNeededLogin(printableLine(loginCommand)), width)
  if (state === 'invalid') return invalidText(printableLine(problem?.message ?? 'unknown'), width)
  const ran =
    ranAt === undefined
      ? ''
      : `, fetched ${formatDuration(now - ranAt)} ago${tookMs === undefined ? '' : ` in ${formatDuration(tookMs)}`}`
  return cut(`${expiryText(state, expiresAt, now)}${ran}`, width)
}

function expiryText(
  state: Exclude<ContextStatus['state'], 'invalid'>,
  expiresAt: number | undefined,
  now: number,
): string {
  switch (state) {
    case 'valid':
      return `expires in ${formatDuration((expiresAt ?? now) - now)}`
    case 'unchecked':
      return 'no known expiry (not checked)'
    case 'expired':
      return `expired ${formatDuration(now - (expiresAt ?? now))} ago`
    case 'anonymous':
      return 'anonymous: no credential'
    case 'unknown':
      return 'not fetched'
  }
}

/** Messages end with the reason. Where they do not fit, it comes first, so that it is not cut off. */
function invalidText(message: string, width: number): string {
  const whole = `invalid: ${message}`
  if (columnsOf(whole) <= width) return whole
  const [, context, reason] = /^(.*?): ((?:[^":]|"(?:[^"\\]|\\.)*"|:(?! ))+)$/s.exec(message) ?? []
  return cut(reason === undefined ? whole : `invalid: ${reason} (${context})`, width)
}

function paintFor({ state }: ContextStatus, palette: Palette): (text: string) => string {
  const { green, red, yellow, dim } = palette
  return {
    valid: green,
    expired: red,
    invalid: red,
    anonymous: yellow,
    unknown: dim,
    unchecked: dim,
  }[state]
}
