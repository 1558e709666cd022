import process from 'node:process'
import { Duplex } from 'node:stream'

/** How much a real socket reads at once. */
const HIGH_WATER_MARK = 64 * 1024
/** Chunks that are smaller than this together are delivered as one. */
export const MAX_JOINED_BYTES = 16 * 1024

export type Callback = (error?: Error | null) => void

/**
 * One end of a connection inside this process, for code that expects a socket.
 *
 * Data that is written at one end arrives at the other in a later tick, as from a network: an exception of the reader
 * must not reach the writer. A slow reader stops the writer.
 *
 * Has the methods that Node's HTTP client and others call on a socket. It has no address and no certificate, because
 * neither is known before the request is sent.
 */
export class PipeEnd extends Duplex {
  /** Always connected: `got` and others check this before they listen for `connect`. */
  readonly connecting = false
  /** Milliseconds without reads and writes after which `timeout` is emitted; 0 disables it. */
  timeout = 0
  #other: PipeEnd | undefined
  /** The callback of a write at the other end, called when this end is read. */
  #pendingWrite: Callback | undefined
  #timer: NodeJS.Timeout | undefined

  /** Makes a connection. The first end is the client's, the second the server's. */
  static pair(): [PipeEnd, PipeEnd] {
    // As with Node's sockets: the client's end closes when the server has ended, the server's end does not.
    const client = new PipeEnd({ allowHalfOpen: false })
    return [client, client.openOther()]
  }

  protected constructor({ allowHalfOpen }: { allowHalfOpen: boolean }) {
    super({ allowHalfOpen, highWaterMark: HIGH_WATER_MARK })
    // Between two requests on a connection there is no listener; an error then concerns no request.
    this.on('error', ignore)
  }

  /** As on a socket: emits `timeout` after that time without reads and writes, and does nothing else. */
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

  /** Does nothing: the connection to the server keeps the process alive, not this one. */
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  /** Makes the server's end of a client's. */
  protected openOther(): PipeEnd {
    const other = new PipeEnd({ allowHalfOpen: true })
    other.#other = this
    this.#other = other
    return other
  }

  /** Starts the time of `setTimeout` again. */
  protected restartTimer(): void {
    this.#timer?.refresh()
  }

  override _read(): void {
    const callback = this.#pendingWrite
    this.#pendingWrite = undefined
    callback?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.restartTimer()
    process.nextTick(() => this.#deliver([chunk], callback))
  }

  override _writev(written: { chunk: Buffer }[], callback: Callback): void {
    this.restartTimer()
    const chunks = joinSmall(written.map(({ chunk }) => chunk))
    process.nextTick(() => this.#deliver(chunks, callback))
  }

  override _final(callback: Callback): void {
    process.nextTick(() => {
      this.#other?.push(null)
      callback()
    })
  }

  /**
   * Destroys the other end too, with the same error, so that it reaches the end that has a listener.
   *
   * If this end had finished writing, the other may first read everything.
   */
  override _destroy(error: Error | null, callback: Callback): void {
    const other = this.#other
    this.#other = undefined
    clearTimeout(this.#timer)
    this._read()
    const hasFinished = error === null && this.writableFinished
    if (other !== undefined) process.nextTick(() => other.#close(error, hasFinished))
    callback(error)
  }

  #deliver(chunks: readonly Buffer[], callback: Callback): void {
    const other = this.#other
    if (other === undefined || other.destroyed) {
      callback(Object.assign(new Error('the other end is closed'), { code: 'EPIPE' }))
      return
    }
    other.restartTimer()
    let hasRoom = true
    for (const chunk of chunks) hasRoom = other.push(chunk)
    if (hasRoom || other.destroyed) callback()
    else other.#pendingWrite = callback
  }

  #close(error: Error | null, otherHasFinished: boolean): void {
    const mayRead = otherHasFinished && !this.readableEnded
    if (mayRead) this.once('end', () => this.destroy())
    else this.destroy(error ?? undefined)
  }
}

/** Joins chunks if they are small: the cost of the reader is per chunk. */
function joinSmall(chunks: readonly Buffer[]): readonly Buffer[] {
  const size = sizeOf(chunks)
  return size < MAX_JOINED_BYTES ? [Buffer.concat(chunks, size)] : chunks
}

/** Returns the size of chunks together. */
export function sizeOf(chunks: readonly Buffer[]): number {
  let size = 0
  for (const { length } of chunks) size += length
  return size
}

function ignore(): void {}
