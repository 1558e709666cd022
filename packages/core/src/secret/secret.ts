const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const SHOWN = '[secret]'

/**
 * A box around a value that must not be shown.
 *
 * Printing, inspecting, serialising or concatenating it gives `[secret]`; `expose()` is the only way
 * out, so that every place where a secret leaves its box can be found by searching for one word.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Hands out the value. Use it only where it goes on the wire or into a child process. */
  expose(): string {
    return this.#value
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [INSPECT](): string {
    return SHOWN
  }
}
