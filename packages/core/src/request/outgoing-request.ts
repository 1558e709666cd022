import { PassThrough, type Readable } from 'node:stream'
import type { HeaderValues } from '../exchange/exchange.ts'

/** A request in the form our transports take, made from the global classes. */
export interface Outgoing {
  readonly method: string
  readonly headers: HeaderValues
  readonly signal: AbortSignal | undefined
  /** The body for one try; call it again for the next. */
  readonly body: () => Uint8Array | Readable | undefined
  /** Why the caller's own stream failed, if it did: that is not the server's fault. */
  readonly bodyError?: () => unknown
  /** Set when the answer stays open by design, whatever the path says: a connection that is handed over. */
  readonly isStream?: boolean
  /** Set when only we ask for a compressed answer, which the login may not want. */
  readonly asksCompressed?: boolean
  /** Whether `body` can be called again. */
  readonly canReplay: () => boolean
}

/** A request whose body, if it has one, is in memory. */
export function inMemory(
  head: Pick<Outgoing, 'method' | 'headers' | 'signal'>,
  content: Uint8Array | undefined,
): Outgoing {
  return { ...head, body: () => content, canReplay: always }
}

/** A request whose body comes once: it can be sent again while it is small. */
export function recorded(
  head: Pick<Outgoing, 'method' | 'headers' | 'signal'>,
  source: Readable,
): Outgoing {
  const body = new RecordedBody(source)
  return {
    ...head,
    body: () => body.open(),
    canReplay: () => body.isWhole,
    bodyError: () => body.error,
  }
}

const always = (): boolean => true

/** A stream up to this size is kept while it is sent, so that it can be sent again. */
export const MOST_RECORDED = 256 * 1024

/** How long a stream may take to its end when nobody sends it any more. */
const LONGEST_FINISH_MS = 1000

/** A body that comes only once, remembered while it is small. */
export class RecordedBody {
  readonly #source: Readable
  #chunks: Uint8Array[] | undefined = []
  #size = 0
  #isOpen = false
  #isWhole = false
  #error: Error | undefined
  #copy: PassThrough | undefined

  constructor(source: Readable) {
    this.#source = source
    // From the beginning: it may fail before anybody reads it, and nobody else listens then.
    source.on('error', (error) => this.#fail(error))
    source.once('close', () => this.#noticeCut())
    if (source.errored) this.#fail(source.errored)
    else if (source.readableEnded) this.#fail(new TypeError('the body was read before'))
    else if (source.destroyed) this.#noticeCut()
  }

  /** Why the source failed, if it did. */
  get error(): Error | undefined {
    return this.#error
  }

  /** Whether all of it was seen and kept: then it can be sent again. */
  get isWhole(): boolean {
    return this.#isWhole && this.#chunks !== undefined
  }

  /** The body: the first time as it comes, after that from memory. */
  open(): Readable | Uint8Array {
    if (this.#isOpen) return Buffer.concat(this.#chunks ?? [])
    this.#isOpen = true
    // It may fail while a connection is being made, and who sends it listens only after that.
    // It takes objects too: another one would throw at them, inside of Node, where nobody can catch it.
    const copy = new PassThrough({ writableObjectMode: true }).on('error', () => {})
    this.#copy = copy
    if (this.#error !== undefined) return copy.destroy(this.#error)
    this.#source.on('data', (chunk) => this.#record(chunk))
    this.#source.once('end', () => {
      this.#isWhole = true
    })
    copy.once('close', () => this.#finish())
    return this.#source.pipe(copy)
  }

  /**
   * A server may refuse a request before it has all of it, and then nobody reads on. What is small is read to
   * its end all the same, within a moment: the credential is being refreshed, and the request may go again.
   */
  #finish(): void {
    const mayGoAgain = !this.#isWhole && this.#chunks !== undefined && this.#error === undefined
    if (!mayGoAgain || this.#source.readableEnded) {
      this.#source.destroy()
      return
    }
    const timer = setTimeout(() => this.#source.destroy(), LONGEST_FINISH_MS)
    timer.unref()
    this.#source.once('close', () => clearTimeout(timer))
    this.#source.resume()
  }

  #fail(error: Error): void {
    this.#error ??= error
    this.#copy?.destroy(error)
  }

  /** A stream that was destroyed without a reason says nothing: who waits for its end would wait for ever. */
  #noticeCut(): void {
    if (this.#source.readableEnded || this.#copy?.destroyed) return
    this.#fail(new Error('the body was destroyed before its end'))
  }

  #record(chunk: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      this.#fail(new TypeError('a body is made of text or bytes, not of objects'))
      return
    }
    this.#size += chunk.length
    if (this.#size > MOST_RECORDED) this.#forget()
    else this.#chunks?.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  }

  #forget(): void {
    this.#chunks = undefined
    if (this.#copy?.destroyed) this.#source.destroy()
  }
}
