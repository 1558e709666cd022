import type { Writable } from 'node:stream'
import type { Palette } from './colour.ts'
import { printable, printableOutput } from './printable.ts'
import { wrap } from './wrap.ts'

/** To the first column, and away with what stands in the line. */
const CLEAR_LINE = '\r\u001b[2K'

/** Standard error as people read it: whole lines, even where a plugin left one unfinished. */
export class Words {
  readonly palette: Palette
  readonly #stderr: Pick<Writable, 'write'>
  readonly #columns: number
  #hide = (text: string): string => text
  #isAtLineStart = true
  #hasNote = false

  /** @param columns Width of the terminal; lines for a file stay whole, so that they can be searched. */
  constructor(
    stderr: Pick<Writable, 'write'>,
    palette: Palette,
    columns = Number.POSITIVE_INFINITY,
  ) {
    this.#stderr = stderr
    this.palette = palette
    this.#columns = columns
  }

  /** From now on, nothing is written that the function takes out: the secrets of a connection. */
  hideWith(hide: (text: string) => string): void {
    this.#hide = hide
  }

  /** The text without what must not be shown, for standard output. */
  hide(text: string): string {
    return this.#hide(text)
  }

  /** Writes a line that is safe already: ours, or made safe with `printable`. */
  line(text = ''): void {
    this.clearNote()
    const begin = this.#isAtLineStart ? '' : '\n'
    this.#stderr.write(`${begin}${this.#hide(text)}\n`)
    this.#isAtLineStart = true
  }

  /**
   * Writes text, broken at blanks where a terminal would break words. What is indented stays: it is for copying.
   *
   * @param begin What stands in front of it, in red.
   */
  paragraph(text: string, begin = ''): void {
    // Before it is broken into lines: a secret may have blanks in it.
    const shown = this.#hide(text)
    const whole = begin === '' ? shown : `${begin} ${shown}`
    const lines = whole
      .split('\n')
      .flatMap((line) => (/^[\s-]/.test(line) ? [line] : wrap(line, this.#columns)))
    const [first = '', ...rest] = lines
    this.line(begin === '' ? first : `${this.palette.red(begin)}${first.slice(begin.length)}`)
    for (const line of rest) this.line(line)
  }

  warn(message: string): void {
    this.line(`${this.palette.yellow('Warning:')} ${printable(message)}`)
  }

  /** Passes on what a plugin says. */
  pass(text: string): void {
    if (text === '') return
    this.clearNote()
    const shown = printableOutput(this.#hide(text))
    this.#stderr.write(shown)
    this.#isAtLineStart = shown.endsWith('\n')
  }

  /**
   * Shows a line that stays only until something else is written or `clearNote` takes it away. For terminals.
   *
   * Where a plugin has left a line unfinished nothing is shown: it may be a question.
   */
  note(text: string): void {
    if (!this.#isAtLineStart) return
    this.#stderr.write(`${CLEAR_LINE}${text}`)
    this.#hasNote = true
  }

  clearNote(): void {
    if (!this.#hasNote) return
    this.#hasNote = false
    this.#stderr.write(CLEAR_LINE)
  }
}
