import type { Writable } from 'node:stream'
import { type Palette, wrap } from '@kubecred/cli/internal'

const INDENT = 7
const WIDEST = 100
/** Where nobody says how wide it is. */
const USUAL = 80
const NARROWEST = 30
/** A blank at which no line is broken, as between a number and its unit. */
export const TIED = '\u00a0'
const SEPARATOR = ' · '
const BEGIN_OF_LINE = '\r'
const ERASE_TO_END = '\u001b[K'

/** How good it is what a sentence tells. */
export type Tone = keyof typeof COLOURS

const COLOURS = { usual: 'dim', trouble: 'yellow', recovery: 'green', failure: 'red' } as const

/** How the output can be used. */
export interface StageOptions {
  readonly palette: Palette
  /** Whether a line may stay at the bottom and change; else there are sentences only. */
  readonly isLive: boolean
  /** How wide it is now; a person may change that. */
  readonly columns: () => number | undefined
}

/**
 * Tells the story: sentences that stay, and below them one line that is always current.
 *
 * Whatever changes is written at once, so that nothing flickers.
 */
export class Stage {
  readonly palette: Palette
  readonly #out: Pick<Writable, 'write'>
  readonly #isLive: boolean
  readonly #columns: () => number | undefined
  #line = ''

  constructor(out: Pick<Writable, 'write'>, { palette, isLive, columns }: StageOptions) {
    this.#out = out
    this.palette = palette
    this.#isLive = isLive
    this.#columns = columns
  }

  /** Writes a sentence with the time at which it became true, in the colour of how good it is. */
  say(seconds: number, sentence: string, tone: Tone = 'usual'): void {
    const lines = wrap(sentence, this.#width - INDENT)
    const [first = '', ...rest] = lines.map((line) => line.replaceAll(TIED, ' '))
    const time = this.palette[COLOURS[tone]](`${seconds} s`.padStart(INDENT - 2))
    this.plain([`${time}  ${first}`, ...rest.map((line) => ' '.repeat(INDENT) + line)])
  }

  /** Writes lines as they are. */
  plain(lines: readonly string[]): void {
    const above = lines.map((line) => this.#overwriting(line)).join('')
    this.#out.write(`${above}${this.#line}`)
  }

  /** Shows how things are now, in place of what was shown before: as many of the parts as there is room for. */
  show(parts: readonly string[]): void {
    if (!this.#isLive) return
    // The last column stays free: some terminals begin a new line there.
    const line = this.palette.dim(joinFitting(parts, this.#width - 1))
    if (line === this.#line) return
    this.#line = line
    this.#out.write(`${BEGIN_OF_LINE}${line}${ERASE_TO_END}`)
  }

  /** Takes the line at the bottom away. */
  end(): void {
    if (this.#line !== '') this.#out.write(`${BEGIN_OF_LINE}${ERASE_TO_END}`)
    this.#line = ''
  }

  #overwriting(line: string): string {
    return this.#line === '' ? `${line}\n` : `${BEGIN_OF_LINE}${line}${ERASE_TO_END}\n`
  }

  get #width(): number {
    return Math.max(NARROWEST, Math.min(this.#columns() || USUAL, WIDEST))
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
