/**
 * A PIN, in memory that can be cleared.
 *
 * The native module takes a string, and a string stays in memory until it is collected. So the string exists only during
 * a login; between logins only this buffer does.
 */
export class Pin {
  readonly #bytes: Buffer
  /** Where the PIN is from, for messages and for deciding whether it may be tried again. */
  readonly from: PinOrigin

  constructor(text: string, from: PinOrigin) {
    this.#bytes = Buffer.from(text, 'utf8')
    this.from = from
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Returns the PIN as a string, for a login. */
  expose(): string {
    return this.#bytes.toString('utf8')
  }

  /** Overwrites the PIN with zeros. */
  wipe(): void {
    this.#bytes.fill(0)
  }
}

/** How a PIN was obtained. */
export type PinOrigin = 'typed' | 'configuration' | 'file' | 'environment' | 'device'
