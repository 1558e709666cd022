import { type Duplex, Readable } from 'node:stream'
import type { Controller, ResponseHeaders } from '../exchange/handler.ts'

/** As much of a response as is kept before it is read; after that its connection waits. */
const MAX_UNREAD_BYTES = 64 * 1024

const NO_HEADERS: ResponseHeaders = {}

/** Receives the rest of a response as it comes. */
export interface ResponseReader {
  data(chunk: Buffer): void
  end(trailers: ResponseHeaders): void
  fail(error: unknown): void
}

/**
 * A response as it arrives.
 *
 * What arrives is collected. Most callers read a small body whole: for them no stream is made. A response whose body
 * is never read does not hold its connection, unless it is large.
 */
export abstract class IncomingResponse {
  statusCode = 0
  statusText = ''
  headers: ResponseHeaders = NO_HEADERS
  /** The connection itself, where the server agreed to another protocol. */
  socket: Duplex | undefined
  #chunks: Buffer[] = []
  #size = 0
  #trailers: ResponseHeaders | undefined
  #failure: { readonly error: unknown } | undefined
  #reader: ResponseReader | undefined
  #body: Readable | undefined
  #onOver: (() => void) | undefined

  /** Undefined when no more can come. */
  abstract get controller(): Controller | undefined

  /** Ends the response with an error for its reader. */
  abstract cancel(reason: unknown): void

  /** Whether all of it is here. */
  get hasArrived(): boolean {
    return this.#trailers !== undefined
  }

  /** Calls back when no more of it can come, also if it is never read; at once if that is so. */
  whenOver(callback: () => void): void {
    if (this.hasArrived || this.isBroken) callback()
    else this.#onOver = callback
  }

  /** Whether it broke off. */
  get isBroken(): boolean {
    return this.#failure !== undefined
  }

  /** The body as a stream: destroying it ends the response. With a status of 101 it is the connection, both ways. */
  get body(): Readable {
    this.#body ??= this.socket ?? new ResponseBody(this)
    return this.#body
  }

  /** The whole body, if it is here and was not read yet. */
  takeWhole(): Buffer | undefined {
    if (this.#trailers === undefined || this.#reader !== undefined) return undefined
    this.#reader = NO_READER
    const chunks = this.#chunks
    this.#chunks = []
    return joined(chunks)
  }

  /** Reads the whole body. Resolves with what `convert` makes of it. */
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

  /** Lets the rest pass unread, so that the connection can be used again. */
  discard(): void {
    this.read(NO_READER)
  }

  /** Gives the body to a reader: at once what has arrived, and then what comes. */
  read(reader: ResponseReader): void {
    const chunks = this.#chunks
    this.#reader = reader
    this.#chunks = []
    for (const chunk of chunks) reader.data(chunk)
    if (this.#failure !== undefined) reader.fail(this.#failure.error)
    else if (this.#trailers !== undefined) reader.end(this.#trailers)
    else this.controller?.resume()
  }

  /** Keeps a chunk, or hands it to the reader. */
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

  /** The rest will not come. */
  protected breakOff(error: unknown): void {
    this.#failure ??= { error }
    this.#reader?.fail(error)
    this.#onOver?.()
  }

  /** Forgets a response that is replaced by another one. */
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
    // Many callers look at the status only: an error of a body that is not read must not end the process.
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
    this.#response.cancel(error ?? new Error('the body was destroyed'))
    done(error)
  }
}

/** Of a body that was taken as a whole. */
const NO_READER: ResponseReader = { data() {}, end() {}, fail() {} }

function joined(chunks: Buffer[]): Buffer {
  const [first] = chunks
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)
}
