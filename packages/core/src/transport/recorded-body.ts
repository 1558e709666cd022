import { PassThrough, type Readable } from 'node:stream'

/** A stream up to this size is kept while it is sent, so that it can be sent again. */
const MOST_RECORDED = 256 * 1024

/** A body that comes only once, remembered while it is small. */
export class RecordedBody {
  readonly #source: Readable
  #chunks: Uint8Array[] | undefined = []
  #size = 0
  #isOpen = false
  #isWhole = false

  constructor(source: Readable) {
    this.#source = source
  }

  /** Whether all of it was seen and kept: then it can be sent again. */
  get isWhole(): boolean {
    return this.#isWhole && this.#chunks !== undefined
  }

  /** The body: the first time as it comes, after that from memory. */
  open(): Readable | Uint8Array {
    if (this.#isOpen) return Buffer.concat(this.#chunks ?? [])
    this.#isOpen = true
    const copy = new PassThrough()
    this.#source.on('data', (chunk: Uint8Array) => this.#record(chunk))
    this.#source.once('end', () => {
      this.#isWhole = true
    })
    this.#source.once('error', (error) => copy.destroy(error))
    copy.once('close', () => this.#source.destroy())
    return this.#source.pipe(copy)
  }

  #record(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (this.#size > MOST_RECORDED) this.#chunks = undefined
    else this.#chunks?.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  }
}
