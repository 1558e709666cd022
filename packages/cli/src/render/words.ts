import type { Writable } from 'node:stream'
import type { Palette } from './colour.ts'
import { printable } from './printable.ts'

/** Standard error as people read it: whole lines, even where a plugin left one unfinished. */
export class Words {
  readonly palette: Palette
  readonly #stderr: Pick<Writable, 'write'>
  #isAtLineStart = true

  constructor(stderr: Pick<Writable, 'write'>, palette: Palette) {
    this.#stderr = stderr
    this.palette = palette
  }

  /** Writes a line that is safe already: ours, or made safe with `printable`. */
  line(text = ''): void {
    const begin = this.#isAtLineStart ? '' : '\n'
    this.#stderr.write(`${begin}${text}\n`)
    this.#isAtLineStart = true
  }

  warn(message: string): void {
    this.line(`${this.palette.yellow('Warning:')} ${printable(message)}`)
  }

  /** Passes on what a plugin says, as it is. */
  pass(text: string): void {
    if (text === '') return
    this.#stderr.write(text)
    this.#isAtLineStart = text.endsWith('\n')
  }
}
