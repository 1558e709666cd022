const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const REDACTED = '[secret]'

/**
 * A wrapper around a value that must not be shown.
 *
 * Printing, inspecting, serializing or concatenating it gives `[secret]`. `expose()` is the only way to read the value,
 * so that every place that does so can be found by searching for one word.
 *
 * @example
 * const token = new Secret('abc')
 * console.log(`token: ${token}`) // token: [secret]
 * headers.set('authorization', `Bearer ${token.expose()}`)
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Returns the value. Call it only where the value is sent to a server or a child process. */
  expose(): string {
    return this.#value
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [INSPECT](): string {
    return REDACTED
  }
}
