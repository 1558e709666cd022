import type { Words } from './words.ts'

const FIRST_MS = 1000
const THEN_MS = 10_000

/** Tells somebody who waits for longer than a second what for, and now and again since when. */
export class Patience {
  readonly #words: Words
  #timer: NodeJS.Timeout | undefined

  constructor(words: Words) {
    this.#words = words
  }

  begin(what: string): void {
    this.end()
    const startedAt = performance.now()
    const tell = (): void => {
      const seconds = Math.round((performance.now() - startedAt) / 1000)
      this.#words.line(this.#words.palette.dim(`… waiting for ${what}, for ${seconds} s now`))
      this.#timer = setTimeout(tell, THEN_MS)
    }
    this.#timer = setTimeout(tell, FIRST_MS)
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
