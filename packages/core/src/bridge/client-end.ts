import process from 'node:process'
import { MAX_RECORDED_BYTES } from '../request/outgoing-request.ts'
import { type Callback, PipeEnd, sizeOf } from './memory-pipe.ts'
import { type PlainHead, readPlainHead } from './plain-request.ts'

/** Receives what a client sends on one connection. */
export interface ConnectionHandler {
  /** Called with a plain request. The client sends the next one when the response is complete. */
  request(client: ClientEnd, head: PlainHead, body: Buffer | undefined): Answer
  /** Called when the client sends something else, with the server's end: that and the rest arrive there. */
  serve(client: ClientEnd, server: PipeEnd): void
}

/** The response to a plain request while it is written. */
export interface Answer {
  /** Called when the client has read what was written. */
  resume(): void
  /** Called when the client has gone. */
  abort(): void
}

/**
 * The client's end of a connection inside this process.
 *
 * Most requests are plain: Node's client writes them as a whole, and they are read here, without a server and a second
 * parser. The first request that is not plain opens the server's end.
 */
export class ClientEnd extends PipeEnd {
  readonly #handler: ConnectionHandler
  #hasServer = false
  /** A request whose body is arriving. */
  #arriving: ArrivingRequest | undefined
  /** The response to a plain request, until it is complete. */
  #answer: Answer | undefined

  constructor(handler: ConnectionHandler) {
    super({ allowHalfOpen: false })
    this.#handler = handler
  }

  /** Whether there is a server's end. Such a connection should not be reused: plain requests are faster without. */
  get hasServer(): boolean {
    return this.#hasServer
  }

  /** Delivers a part of a response. Returns false if the client should read it before it gets more. */
  deliver(chunks: readonly Buffer[]): boolean {
    this.restartTimer()
    let hasRoom = true
    for (const chunk of chunks) hasRoom = this.push(chunk)
    return hasRoom
  }

  /** Delivers the end of a response. The next request may follow. */
  deliverLast(chunks: readonly Buffer[]): void {
    // First, because the client may send it before `deliver` returns.
    this.#answer = undefined
    this.deliver(chunks)
  }

  override _read(): void {
    super._read()
    this.#answer?.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: Callback): void {
    if (!this.#take([chunk], callback)) super._write(chunk, encoding, callback)
  }

  override _writev(written: { chunk: Buffer }[], callback: Callback): void {
    const chunks = written.map(({ chunk }) => chunk)
    if (!this.#take(chunks, callback)) super._writev(written, callback)
  }

  override _final(callback: Callback): void {
    // As Node's server does: a client that has stopped sending has gone.
    this.#answer?.abort()
    if (!this.#hasServer) process.nextTick(() => this.push(null))
    super._final(callback)
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#answer?.abort()
    super._destroy(error, callback)
  }

  /** Takes what the client has written. Returns false if the server's end must get it. */
  #take(chunks: readonly Buffer[], callback: Callback): boolean {
    if (this.#hasServer) return false
    this.restartTimer()
    const isBeginning = this.#answer === undefined && this.#arriving === undefined
    // Node's client ends a request that it has sent already with an empty write.
    if (!isBeginning || sizeOf(chunks) === 0) {
      callback(this.#collect(chunks))
      return true
    }
    const head = plainHeadOf(chunks)
    if (head === undefined) {
      this.#hasServer = true
      this.#handler.serve(this, this.openOther())
      return false
    }
    if (head.bodyBytes === 0) {
      this.#answer = this.#handler.request(this, head, undefined)
      callback()
      return true
    }
    const [first = NOTHING, ...others] = chunks
    // A copy, because the client may reuse its own once it is written.
    this.#arriving = { head, body: Buffer.allocUnsafe(head.bodyBytes), size: 0 }
    callback(this.#collect([first.subarray(head.headBytes), ...others]))
    return true
  }

  /** Adds to the body of a request, and passes the request on when it is complete. Returns an error for other bytes. */
  #collect(chunks: readonly Buffer[]): Error | undefined {
    const arriving = this.#arriving
    const missing = arriving === undefined ? 0 : arriving.body.length - arriving.size
    if (sizeOf(chunks) > missing) return excessError()
    if (arriving === undefined) return undefined
    for (const chunk of chunks) arriving.size += chunk.copy(arriving.body, arriving.size)
    if (arriving.size === arriving.body.length) {
      this.#arriving = undefined
      this.#answer = this.#handler.request(this, arriving.head, arriving.body)
    }
    return undefined
  }
}

/** A plain request whose body is arriving. */
interface ArrivingRequest {
  readonly head: PlainHead
  readonly body: Buffer
  /** How much of the body has arrived. */
  size: number
}

const NOTHING = Buffer.alloc(0)

/** Returns the head of a plain request; undefined if it is not one, has a large body, or more than its body follows. */
function plainHeadOf(chunks: readonly Buffer[]): PlainHead | undefined {
  const head = readPlainHead(chunks[0] ?? NOTHING)
  if (head === undefined || head.bodyBytes > MAX_RECORDED_BYTES) return undefined
  return sizeOf(chunks) > head.headBytes + head.bodyBytes ? undefined : head
}

/** The error for bytes after a request and before its response, which Node's parser would take for the next request. */
function excessError(): Error {
  const message =
    'the client has sent more than the request; a body needs the header Content-Length or Transfer-Encoding'
  return Object.assign(new Error(message), { code: 'HPE_INVALID_METHOD' })
}
