import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { HandshakeError } from './alert.ts'
import { ALERT, type Alert, RECORD } from './constants.ts'
import type { HandshakeTracker } from './handshake-tracker.ts'
import { sealAlert } from './records.ts'

const CHANGE_CIPHER_SPEC = Buffer.of(RECORD.changeCipherSpec, 3, 3, 0, 1, 1)

type Done = (error?: Error | null) => void
interface Chunk {
  readonly chunk: Buffer
}

/** The loss of a connection while its flight is held. */
interface Loss {
  readonly cause: Error | undefined
}

/**
 * A stream between OpenSSL and the socket that holds back OpenSSL's last flight, so that it can be replaced.
 *
 * During the handshake all bytes also go to the tracker. `release` sends the flight for the server; from then on bytes
 * pass through unchanged.
 */
export class FlightSplice extends Duplex {
  readonly #socket: Socket
  /** Resolves when the last flight of OpenSSL is complete; rejects if the handshake ends before. */
  readonly flight: Promise<void>
  #tracker: HandshakeTracker | undefined
  #onFlight: Done = () => {}
  /** Completes OpenSSL's write, which waits until its flight is sent. */
  #finishWrite: Done | undefined
  /** What OpenSSL wrote together with its flight and before it; both are sent as one packet. */
  #beforeFlight: readonly Buffer[] = []
  /** Whether OpenSSL has written a change_cipher_spec, which is sent or in `#beforeFlight`. */
  #hasChangeCipherSpec = false
  #loss: Loss | undefined

  constructor(socket: Socket, tracker: HandshakeTracker) {
    // Half-open: OpenSSL ends each side itself, and sends its close_notify after the server has ended. No autoDestroy:
    // when both sides have ended, OpenSSL may still hold bytes that are not read yet.
    super({ allowHalfOpen: true, autoDestroy: false })
    this.#socket = socket
    this.#tracker = tracker
    this.flight = new Promise((resolve, reject) => {
      this.#onFlight = (error) => (error ? reject(error) : resolve())
    })
    this.flight.catch(() => {})
    socket.allowHalfOpen = true
    socket
      .on('data', (chunk: Buffer) => this.#fromServer(chunk))
      .on('end', () => this.markLost(undefined) || this.push(null))
      .on('error', (error) => this.markLost(error) || this.destroy(error))
      // After a clean end there may be unread bytes: then 'end' is emitted after them.
      .on('close', () => this.markLost(undefined) || socket.readableEnded || this.destroy())
    if (socket.readableEnded) this.push(null)
  }

  /** Set if the connection was lost while the flight was held. */
  get loss(): Loss | undefined {
    return this.#loss ?? (this.destroyed ? { cause: this.errored ?? undefined } : undefined)
  }

  /**
   * Marks the connection as lost if its flight is held.
   *
   * @returns Whether the flight is held. The stream then stays open, because a signature may be pending.
   */
  markLost(cause: Error | undefined): boolean {
    if (this.#tracker === undefined || this.#finishWrite === undefined) return false
    this.#loss ??= { cause }
    return true
  }

  /** Sends a flight and what OpenSSL wrote after it; from then on bytes pass through. */
  release(flight: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const [tracker, finishWrite] = [this.#tracker, this.#finishWrite]
      if (tracker === undefined || finishWrite === undefined) {
        reject(new Error('no flight is held'))
        return
      }
      this.#tracker = undefined
      const bytes = Buffer.concat([...this.#beforeFlight, flight, tracker.takeHeld()])
      this.#socket.write(bytes, (error) => {
        if (error) reject(error)
        else {
          resolve()
          finishWrite()
        }
      })
    })
  }

  /** Destroys the connection, after an alert if the server still waits for the flight. */
  abandon(alert: Alert): void {
    this.#sendAlert(alert)
    this.destroy()
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (this.#tracker === undefined) this.#socket.write(chunk, this.#orDestroy(done))
    else this.#track(this.#tracker, chunk, done)
  }

  override _writev(chunks: Chunk[], done: Done): void {
    const all = chunks.map(({ chunk }) => chunk)
    if (this.#tracker === undefined) this.#send(all, done)
    else this.#track(this.#tracker, Buffer.concat(all), done)
  }

  override _final(done: Done): void {
    // The error of a socket that has ended before is ignored.
    this.#socket.end(() => done())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Without an error of ours it was Node that destroyed the stream, because it rejected the server's certificate.
    this.#sendAlert(error instanceof HandshakeError ? error.alert : ALERT.certificateUnknown)
    this.#onFlight(error ?? new Error('closed before the TLS handshake was complete'))
    this.#socket.destroy()
    done(error)
  }

  #fromServer(chunk: Buffer): void {
    this.#tracker?.fromServer(chunk)
    if (!this.push(chunk)) this.#socket.pause()
  }

  #track(tracker: HandshakeTracker, bytes: Buffer, done: Done): void {
    let forward: Buffer[]
    try {
      forward = tracker.fromClient(bytes)
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    this.#hasChangeCipherSpec ||= forward.some(([type]) => type === RECORD.changeCipherSpec)
    if (tracker.state === 'failed') this.#detachTracker()
    if (tracker.state !== 'flightComplete') {
      this.#send(forward, done)
      return
    }
    this.#beforeFlight = forward
    this.#finishWrite = done
    this.#onFlight()
  }

  /** Writes all chunks with one system call. */
  #send(chunks: readonly Buffer[], done: Done): void {
    const last = chunks.at(-1)
    if (last === undefined) {
      done()
      return
    }
    this.#socket.cork()
    for (const chunk of chunks.slice(0, -1)) this.#socket.write(chunk)
    this.#socket.write(last, this.#orDestroy(done))
    this.#socket.uncork()
  }

  #orDestroy(done: Done): Done {
    return (error) => {
      if (error) this.destroy(error)
      else done()
    }
  }

  #sendAlert(alert: Alert): void {
    const tracker = this.#detachTracker()
    if (tracker === undefined || !this.#socket.writable) return
    try {
      const protection = tracker.clientProtection()
      // RFC 8446, appendix D.4: change_cipher_spec precedes the first encrypted record of a client.
      const before = this.#hasChangeCipherSpec ? this.#beforeFlight : [CHANGE_CIPHER_SPEC]
      this.#socket.write(Buffer.concat([...before, sealAlert(protection, alert)]))
      protection.wipe()
    } catch {
      // No handshake keys yet, so the alert cannot be encrypted.
    }
  }

  #detachTracker(): HandshakeTracker | undefined {
    const tracker = this.#tracker
    this.#tracker = undefined
    return tracker
  }
}
