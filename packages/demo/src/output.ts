import type { Writable } from 'node:stream'
import { type Palette, wrapText } from '@kubecred/cli/internal'

const INDENT = 7
const MAX_COLUMNS = 100
/** The width if it is unknown. */
const DEFAULT_COLUMNS = 80
const MIN_COLUMNS = 30
/** A no-break space, for example between a number and its unit. */
export const NO_BREAK = '\u00a0'
const SEPARATOR = ' · '
const CARRIAGE_RETURN = '\r'
const ERASE_TO_END = '\u001b[K'

/** The level of an event, which determines its colour. */
export type Level = keyof typeof COLOURS

const COLOURS = { info: 'dim', warning: 'yellow', recovery: 'green', failure: 'red' } as const

/** Properties of the output. */
export interface OutputOptions {
  readonly palette: Palette
  /** Whether to keep a status line at the bottom; else only events are printed. */
  readonly isLive: boolean
  /** Returns the current width. */
  readonly columns: () => number | undefined
}

/**
 * Prints events, and below them a status line that is updated in place.
 *
 * Each update is one write, so that nothing flickers.
 */
export class Output {
  readonly palette: Palette
  readonly #out: Pick<Writable, 'write'>
  readonly #isLive: boolean
  readonly #columns: () => number | undefined
  #status = ''

  constructor(out: Pick<Writable, 'write'>, { palette, isLive, columns }: OutputOptions) {
    this.#out = out
    this.palette = palette
    this.#isLive = isLive
    this.#columns = columns
  }

  /** Prints an event with its time, in the colour of its level. */
  report(seconds: number, sentence: string, level: Level = 'info'): void {
    const lines = wrapText(sentence, this.#width - INDENT)
    const [first = '', ...rest] = lines.map((line) => line.replaceAll(NO_BREAK, ' '))
    const time = this.palette[COLOURS[level]](`${seconds} s`.padStart(INDENT - 2))
    this.print([`${time}  ${first}`, ...rest.map((line) => ' '.repeat(INDENT) + line)])
  }

  /** Prints lines unchanged. */
  print(lines: readonly string[]): void {
    const above = lines.map((line) => this.#overwriting(line)).join('')
    this.#out.write(`${above}${this.#status}`)
  }

  /** Replaces the status line. Parts that do not fit are left out, from the end. */
  showStatus(parts: readonly string[]): void {
    if (!this.#isLive) return
    // The last column stays free: some terminals wrap there.
    const line = this.palette.dim(joinFitting(parts, this.#width - 1))
    if (line === this.#status) return
    this.#status = line
    this.#out.write(`${CARRIAGE_RETURN}${line}${ERASE_TO_END}`)
  }

  /** Removes the status line. */
  clearStatus(): void {
    if (this.#status !== '') this.#out.write(`${CARRIAGE_RETURN}${ERASE_TO_END}`)
    this.#status = ''
  }

  #overwriting(line: string): string {
    return this.#status === '' ? `${line}\n` : `${CARRIAGE_RETURN}${line}${ERASE_TO_END}\n`
  }

  get #width(): number {
    return Math.max(MIN_COLUMNS, Math.min(this.#columns() || DEFAULT_COLUMNS, MAX_COLUMNS))
  }
}

function joinFitting(parts: readonly string[], width: number): string {
  let text = `  ${parts[0] ?? ''}`
  for (const part of parts.slice(1)) {
    if (text.length + SEPARATOR.length + part.length > width) break
    text += SEPARATOR + part
  }
  return text.slice(0, width)
}
