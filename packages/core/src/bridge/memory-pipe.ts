import process from 'node:process'
import { Duplex } from 'node:stream'

/** As much as a real socket reads at once. */
const CHUNK = 64 * 1024
/** Pieces that together stay below this are handed over as one. */
const MOST_JOINED = 16 * 1024

type Callback = (error?: Error | null) => void

/**
 * One end of a connection inside this process, for code that expects a socket.
 *
 * What is written at one end arrives at the other in a later tick, as from a network: whoever reads may
 * throw, and that must not come back to the one who writes. A slow reader stops the writer.
 *
 * Offers what Node's HTTP client and others call on a socket. It has no address and no certificate,
 * because neither exists before the request is on its way.
 */
export class PipeEnd extends Duplex {
  /** Nobody has to wait for it: `got` and others look before they listen for `connect`. */
  readonly connecting = false
  /** Milliseconds without anything read or written before `timeout` is emitted; 0 is never. */
  timeout = 0
  #other: PipeEnd | undefined
  /** Whoever wrote to the other end waits for this one to be read. */
  #wanted: Callback | undefined
  #timer: NodeJS.Timeout | undefined

  /** The first is for the side that asks, the second for the side that answers. */
  static pair(): [PipeEnd, PipeEnd] {
    // As with Node's sockets: a client's end closes when the server has ended, the server's does not.
    const one = new PipeEnd({ allowHalfOpen: false })
    const other = new PipeEnd({ allowHalfOpen: true })
    one.#other = other
    other.#other = one
    return [one, other]
  }

  private constructor({ allowHalfOpen }: { allowHalfOpen: boolean }) {
    super({ allowHalfOpen, highWaterMark: CHUNK })
    // Between two requests on the same connection nobody listens; an error then is nobody's.
    this.on('error', ignore)
  }

  /** As on a socket: emits `timeout` when nothing was read or written for so long, and does no more than that. */
  setTimeout(milliseconds: number, callback?: () => void): this {
    this.timeout = milliseconds
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (milliseconds === 0) {
      if (callback !== undefined) this.off('timeout', callback)
      return this
    }
    if (callback !== undefined) this.once('timeout', callback)
    if (!this.destroyed) this.#timer = setTimeout(() => this.emit('timeout'), milliseconds).unref()
    return this
  }

  setNoDelay(_isOn?: boolean): this {
    return this
  }

  setKeepAlive(_isOn?: boolean, _delay?: number): this {
    return this
  }

  /** It never keeps the process alive; the connection to the server does. */
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {
    const wanted = this.#wanted
    this.#wanted = undefined
    wanted?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#timer?.refresh()
    process.nextTick(() => this.#deliver([chunk], callback))
  }

  override _writev(written: { chunk: Buffer }[], callback: Callback): void {
    this.#timer?.refresh()
    const chunks = written.map(({ chunk }) => chunk)
    const size = chunks.reduce((sum, { length }) => sum + length, 0)
    const pieces = size < MOST_JOINED ? [Buffer.concat(chunks, size)] : chunks
    process.nextTick(() => this.#deliver(pieces, callback))
  }

  override _final(callback: Callback): void {
    process.nextTick(() => {
      this.#other?.push(null)
      callback()
    })
  }

  /**
   * Ends the other end too, with the same error, so that what went wrong is told where somebody listens.
   * If this one had said all it had to say, the other may read it first.
   */
  override _destroy(error: Error | null, callback: Callback): void {
    const other = this.#other
    this.#other = undefined
    clearTimeout(this.#timer)
    this._read()
    const hasSaidAll = error === null && this.writableFinished
    if (other !== undefined) process.nextTick(() => other.#leave(error, hasSaidAll))
    callback(error)
  }

  #deliver(chunks: readonly Buffer[], callback: Callback): void {
    const other = this.#other
    if (other === undefined || other.destroyed) {
      callback(Object.assign(new Error('the other end is gone'), { code: 'EPIPE' }))
      return
    }
    other.#timer?.refresh()
    let hasRoom = true
    for (const chunk of chunks) hasRoom = other.push(chunk)
    if (hasRoom || other.destroyed) callback()
    else other.#wanted = callback
  }

  #leave(error: Error | null, hasSaidAll: boolean): void {
    const mayRead = hasSaidAll && !this.readableEnded
    if (mayRead) this.once('end', () => this.destroy())
    else this.destroy(error ?? undefined)
  }
}

function ignore(): void {}
