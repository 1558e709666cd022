/**
 * A PIN, in memory that can be cleared.
 *
 * The native module takes text, and text stays in memory until it is collected. So the text exists only for the moment
 * of a login; what lies about for longer is this buffer.
 */
export class Pin {
  readonly #bytes: Buffer
  /** Where it is from, for messages: "that was typed". */
  readonly from: PinOrigin

  constructor(text: string, from: PinOrigin) {
    this.#bytes = Buffer.from(text, 'utf8')
    this.from = from
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Hands out the text, for a login. */
  expose(): string {
    return this.#bytes.toString('utf8')
  }

  /** Clears it. */
  wipe(): void {
    this.#bytes.fill(0)
  }
}

export type PinOrigin = 'typed' | 'configuration' | 'file' | 'environment' | 'device'
