import { PassThrough, type Readable } from 'node:stream'
import type { HeaderValues } from '../exchange/exchange.ts'

/** A request in the form that `Call` sends. */
export interface OutgoingRequest {
  readonly method: string
  readonly headers: HeaderValues
  readonly signal: AbortSignal | undefined
  /** Returns the body for one try; called again for the next. */
  readonly body: () => Uint8Array | Readable | undefined
  /** Returns why the caller's stream failed, if it did: that is not the server's fault. */
  readonly bodyError?: () => unknown
  /** Set if the response stays open by design, whatever the path says: an upgraded connection. */
  readonly isStream?: boolean
  /** Set if `Accept-Encoding` is our default and not the caller's: the login may disable it. */
  readonly asksCompressed?: boolean | undefined
  /** Whether `body` can be called again. */
  readonly canReplay: () => boolean
}

/** Makes a request whose body, if it has one, is in memory. */
export function withBufferedBody(
  {
    method,
    headers,
    signal,
    asksCompressed,
  }: Pick<OutgoingRequest, 'method' | 'headers' | 'signal' | 'asksCompressed'>,
  content: Uint8Array | undefined,
): OutgoingRequest {
  // One by one, because this is faster than to spread them, and every request passes here.
  return { method, headers, signal, asksCompressed, body: () => content, canReplay: always }
}

/** Makes a request whose body is a stream. It can be sent again if the body is small. */
export function withStreamBody(
  head: Pick<OutgoingRequest, 'method' | 'headers' | 'signal'>,
  source: Readable,
): OutgoingRequest {
  const body = new RecordedBody(source)
  return {
    ...head,
    body: () => body.open(),
    canReplay: () => body.isWhole,
    bodyError: () => body.error,
  }
}

const always = (): boolean => true

/** Up to this size a stream is kept while it is sent, so that it can be sent again. */
export const MAX_RECORDED_BYTES = 256 * 1024

/** How long a stream may take to end after its request has ended. */
const MAX_FINISH_MS = 1000

/** A body that can be read only once, recorded while it is small. */
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
    // From the beginning: it may fail before it is read, when there is no other listener.
    source.on('error', (error) => this.#fail(error))
    source.once('close', () => this.#checkEnded())
    if (source.errored) this.#fail(source.errored)
    else if (source.readableEnded) this.#fail(new TypeError('the body has already been read'))
    else if (source.destroyed) this.#checkEnded()
  }

  /** The error of the source, if it failed. */
  get error(): Error | undefined {
    return this.#error
  }

  /** Whether the whole body was read and kept, so that it can be sent again. */
  get isWhole(): boolean {
    return this.#isWhole && this.#chunks !== undefined
  }

  /** Returns the body: the first time as a stream, after that from memory. */
  open(): Readable | Uint8Array {
    if (this.#isOpen) return Buffer.concat(this.#chunks ?? [])
    this.#isOpen = true
    // It may fail while a connection is being made, before the sender listens for errors.
    // In object mode, because otherwise a chunk that is an object would throw inside Node, where it cannot be caught.
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
   * Reads a small body to its end after the server refused the request early.
   *
   * The credential is being refreshed, and the request may then be sent again. The time for it is limited.
   */
  #finish(): void {
    const mayBeResent = !this.#isWhole && this.#chunks !== undefined && this.#error === undefined
    if (!mayBeResent || this.#source.readableEnded) {
      this.#source.destroy()
      return
    }
    const timer = setTimeout(() => this.#source.destroy(), MAX_FINISH_MS)
    timer.unref()
    this.#source.once('close', () => clearTimeout(timer))
    this.#source.resume()
  }

  #fail(error: Error): void {
    this.#error ??= error
    this.#copy?.destroy(error)
  }

  /** Fails if the source closed before its end: a stream that is destroyed without an error emits none. */
  #checkEnded(): void {
    if (this.#source.readableEnded || this.#copy?.destroyed) return
    this.#fail(new Error('the body was destroyed before its end'))
  }

  #record(chunk: unknown): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      this.#fail(new TypeError('a body stream must produce strings or bytes, not objects'))
      return
    }
    this.#size += chunk.length
    if (this.#size > MAX_RECORDED_BYTES) this.#forget()
    else this.#chunks?.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  }

  #forget(): void {
    this.#chunks = undefined
    if (this.#copy?.destroyed) this.#source.destroy()
  }
}
