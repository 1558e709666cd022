import { type Duplex, Readable } from 'node:stream'
import type { Controller, ResponseHeaders } from '../exchange/handler.ts'

/** How much of a response is kept before it is read; beyond that its connection is paused. */
const MAX_UNREAD_BYTES = 64 * 1024

const NO_HEADERS: ResponseHeaders = {}

/** Receives the body of a response as it arrives. */
export interface ResponseReader {
  data(chunk: Buffer): void
  end(trailers: ResponseHeaders): void
  fail(error: unknown): void
}

/**
 * A response while it arrives.
 *
 * The body is collected in memory. Most callers read a small body as a whole, and no stream is made for them. A response
 * whose body is never read does not hold its connection, unless it is large.
 */
export abstract class IncomingResponse {
  statusCode = 0
  statusText = ''
  headers: ResponseHeaders = NO_HEADERS
  /** The connection itself, after a 101 (Switching Protocols). */
  socket: Duplex | undefined
  #chunks: Buffer[] = []
  #size = 0
  #trailers: ResponseHeaders | undefined
  #failure: { readonly error: unknown } | undefined
  #reader: ResponseReader | undefined
  #body: Readable | undefined
  #onOver: (() => void) | undefined

  /** Undefined when the response has ended. */
  abstract get controller(): Controller | undefined

  /** Ends the response with an error for its reader. */
  abstract cancel(reason: unknown): void

  /** Whether the whole response has arrived. */
  get hasArrived(): boolean {
    return this.#trailers !== undefined
  }

  /** Calls back when the response has ended, even if it is never read; at once if it has ended already. */
  whenOver(callback: () => void): void {
    if (this.hasArrived || this.isBroken) callback()
    else this.#onOver = callback
  }

  /** Whether the response broke off. */
  get isBroken(): boolean {
    return this.#failure !== undefined
  }

  /** The body as a stream; destroying it ends the response. After a 101 it is the connection, a duplex stream. */
  get body(): Readable {
    this.#body ??= this.socket ?? new ResponseBody(this)
    return this.#body
  }

  /** Returns the whole body if it has arrived and was not read yet. */
  takeWhole(): Buffer | undefined {
    if (this.#trailers === undefined || this.#reader !== undefined) return undefined
    this.#reader = NO_READER
    const chunks = this.#chunks
    this.#chunks = []
    return joined(chunks)
  }

  /** Reads the whole body. Resolves with the result of `convert`. */
  readAll<T>(convert: (bytes: Buffer) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const whole = this.takeWhole()
      if (whole !== undefined) {
        resolve(convert(whole))
        return
      }
      const chunks: Buffer[] = []
      this.read({
        data: (chunk) => void chunks.push(chunk),
        end() {
          try {
            resolve(convert(joined(chunks)))
          } catch (error) {
            reject(error)
          }
        },
        fail: reject,
      })
    })
  }

  /** Discards the rest of the body, so that the connection can be reused. */
  discard(): void {
    this.read(NO_READER)
  }

  /** Passes the body to a reader: first what has arrived, then the rest as it arrives. */
  read(reader: ResponseReader): void {
    const chunks = this.#chunks
    this.#reader = reader
    this.#chunks = []
    for (const chunk of chunks) reader.data(chunk)
    if (this.#failure !== undefined) reader.fail(this.#failure.error)
    else if (this.#trailers !== undefined) reader.end(this.#trailers)
    else this.controller?.resume()
  }

  /** Keeps a chunk, or passes it to the reader. */
  protected push(chunk: Buffer): void {
    if (this.#reader !== undefined) {
      this.#reader.data(chunk)
      return
    }
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > MAX_UNREAD_BYTES) this.controller?.pause()
  }

  protected end(trailers: ResponseHeaders): void {
    this.#trailers = trailers
    this.#reader?.end(trailers)
    this.#onOver?.()
  }

  /** Notes that the rest will not arrive. */
  protected breakOff(error: unknown): void {
    this.#failure ??= { error }
    this.#reader?.fail(error)
    this.#onOver?.()
  }

  /** Forgets a response that another one replaces. */
  protected reset(): void {
    this.statusCode = 0
    this.headers = NO_HEADERS
    this.#chunks = []
    this.#size = 0
    this.#trailers = undefined
    this.#failure = undefined
  }
}

/** The body of a response as a stream. */
class ResponseBody extends Readable implements ResponseReader {
  readonly #response: IncomingResponse

  constructor(response: IncomingResponse) {
    super({ highWaterMark: MAX_UNREAD_BYTES })
    this.#response = response
    // Many callers only look at the status: an error in a body that is not read must not end the process.
    this.on('error', () => {})
    response.read(this)
  }

  data(chunk: Buffer): void {
    if (!this.push(chunk)) this.#response.controller?.pause()
  }

  end(): void {
    this.push(null)
  }

  fail(error: unknown): void {
    this.destroy(error as Error)
  }

  override _read(): void {
    this.#response.controller?.resume()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // A complete response is destroyed too, and most are: an error for each would cost more than its stream.
    const isOver = this.#response.hasArrived || this.#response.isBroken
    if (!isOver) this.#response.cancel(error ?? new Error('the body was destroyed'))
    done(error)
  }
}

/** The reader of a body that is discarded or was taken as a whole. */
const NO_READER: ResponseReader = { data() {}, end() {}, fail() {} }

function joined(chunks: Buffer[]): Buffer {
  const [first] = chunks
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)
}
