import { type ClientHttp2Stream, constants } from 'node:http2'
import { Readable } from 'node:stream'
import { broken, type Http2Connection } from './http2-connection.ts'

/** As much as the pool's bodies keep. */
const KEPT_BYTES = 64 * 1024

interface Expected {
  readonly passage: { done(): void }
  /** How many bytes the server announced, if it did. */
  readonly length: number | undefined
}

/**
 * The body of a response.
 *
 * Not the stream itself: a session remembers a stream until its last byte was read, and many callers
 * look at the status only. What fits in here leaves the session at once.
 */
export class Http2ResponseBody extends Readable {
  readonly #stream: ClientHttp2Stream
  readonly #passage: { done(): void }
  readonly #length: number | undefined
  #received = 0
  #hasArrived = false
  readonly #waiting: (() => void)[] = []

  constructor(
    stream: ClientHttp2Stream,
    connection: Http2Connection,
    { passage, length }: Expected,
  ) {
    super({ highWaterMark: KEPT_BYTES })
    this.#stream = stream
    this.#passage = passage
    this.#length = length
    // Many look at the status only: an error of a body that nobody reads must not end the process.
    this.on('error', () => {})
    stream.on('data', (chunk: Buffer) => {
      this.#received += chunk.length
      if (!this.push(chunk)) stream.pause()
    })
    stream.once('end', () => {
      // Node ends a stream in the same way when its connection was closed in the middle of it.
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) return
      this.#end()
    })
    stream.once('error', (error) => this.#breakOff(error))
    stream.once('close', () => this.#breakOff(connection.isEnded ? connection.error : cut()))
  }

  /** Calls back when all of it has arrived, or will never; at once if that is so. Nobody needs to read it. */
  whenArrived(tell: () => void): void {
    if (this.#hasArrived) tell()
    else this.#waiting.push(tell)
  }

  override _read(): void {
    this.#stream.resume()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#arrive()
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL)
    done(error)
  }

  #end(): void {
    this.#arrive()
    this.push(null)
  }

  /**
   * Ends it with an error, if anything is missing but the word that nothing is missing.
   *
   * A reader that knows the length is done already, and has gone on to the next response.
   */
  #breakOff(error: Error): void {
    if (this.#hasArrived) return
    if (this.#received === this.#length) this.#end()
    else this.destroy(error)
  }

  #arrive(): void {
    this.#hasArrived = true
    this.#passage.done()
    for (const tell of this.#waiting.splice(0)) tell()
  }
}

function cut(): Error {
  return broken('ECONNRESET', 'the server cut the response off')
}
