import type { Writable } from 'node:stream'
import type { Palette } from './colour.ts'
import { printable, printableOutput } from './printable.ts'
import { wrapText } from './wrap-text.ts'

/** Moves to the first column and erases the line. */
const CLEAR_LINE = '\r\u001b[2K'

/** Writes whole lines to standard error, also after a plugin has left a line unfinished. */
export class StderrWriter {
  readonly palette: Palette
  readonly #stderr: Pick<Writable, 'write'>
  readonly #columns: number
  #hide = (text: string): string => text
  #isAtLineStart = true
  #hasNote = false

  /** @param columns Width of the terminal; without it, lines are not wrapped, so that a log can be searched. */
  constructor(
    stderr: Pick<Writable, 'write'>,
    palette: Palette,
    columns = Number.POSITIVE_INFINITY,
  ) {
    this.#stderr = stderr
    this.palette = palette
    this.#columns = columns
  }

  /** From now on, the function removes the secrets of a connection from everything that is written. */
  hideWith(hide: (text: string) => string): void {
    this.#hide = hide
  }

  /** Removes the secrets from text for standard output. */
  hide(text: string): string {
    return this.#hide(text)
  }

  /** Writes a line of our own text, or of text that `printable` has escaped. */
  line(text = ''): void {
    this.clearNote()
    const begin = this.#isAtLineStart ? '' : '\n'
    this.#stderr.write(`${begin}${this.#hide(text)}\n`)
    this.#isAtLineStart = true
  }

  /**
   * Writes text wrapped at spaces. Indented lines are not wrapped: they are for copying.
   *
   * @param begin A prefix, in red.
   */
  paragraph(text: string, begin = ''): void {
    // Before wrapping: a secret may contain spaces.
    const shown = this.#hide(text)
    const whole = begin === '' ? shown : `${begin} ${shown}`
    const lines = whole
      .split('\n')
      .flatMap((line) => (/^[\s-]/.test(line) ? [line] : wrapText(line, this.#columns)))
    const [first = '', ...rest] = lines
    this.line(begin === '' ? first : `${this.palette.red(begin)}${first.slice(begin.length)}`)
    for (const line of rest) this.line(line)
  }

  warn(message: string): void {
    this.line(`${this.palette.yellow('Warning:')} ${printable(message)}`)
  }

  /** Passes on the standard error of a plugin. */
  pass(text: string): void {
    if (text === '') return
    this.clearNote()
    const shown = printableOutput(this.#hide(text))
    this.#stderr.write(shown)
    this.#isAtLineStart = shown.endsWith('\n')
  }

  /**
   * Shows a temporary line on a terminal, until something else is written or `clearNote` removes it.
   *
   * Nothing is shown while a line of a plugin is unfinished: it may be a prompt.
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
