import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { HandshakeProblem } from './alert.ts'
import { ALERT, type Alert, RECORD } from './constants.ts'
import type { HandshakeFollower } from './handshake-tracker.ts'
import { sealAlert } from './records.ts'

const CHANGE_CIPHER_SPEC = Buffer.of(RECORD.changeCipherSpec, 3, 3, 0, 1, 1)

type Done = (error?: Error | null) => void
interface Chunk {
  readonly chunk: Buffer
}

/** The end of a connection that somebody still waits for. */
interface Loss {
  readonly cause: Error | undefined
}

/**
 * Stands between OpenSSL and the socket.
 *
 * During the handshake everything goes by the follower, and the last flight of OpenSSL stays here. Then
 * somebody calls `release` with what the server gets in its place, and from there on bytes only pass.
 */
export class Splice extends Duplex {
  readonly #socket: Socket
  /** Settles when the last flight of OpenSSL is complete, or will never be. */
  readonly flight: Promise<void>
  #follower: HandshakeFollower | undefined
  #onFlight: Done = () => {}
  /** Continues OpenSSL, which waits until its flight is sent. */
  #goOn: Done | undefined
  /** What OpenSSL wrote just before its flight; one packet is enough for both. */
  #before: readonly Buffer[] = []
  /** Whether OpenSSL has written a change of cipher spec, which is sent or stands in `#before`. */
  #hasChangedCipherSpec = false
  #loss: Loss | undefined

  constructor(socket: Socket, follower: HandshakeFollower) {
    // Both sides are ended by OpenSSL, one after the other: after the last bytes of the server it still says goodbye.
    // And it decides when all is over: it may hold bytes that nobody has read yet, when both sides have ended.
    super({ allowHalfOpen: true, autoDestroy: false })
    this.#socket = socket
    this.#follower = follower
    this.flight = new Promise((resolve, reject) => {
      this.#onFlight = (error) => (error ? reject(error) : resolve())
    })
    this.flight.catch(() => {})
    socket.allowHalfOpen = true
    socket
      .on('data', (chunk: Buffer) => this.#fromServer(chunk))
      .on('end', () => this.lose(undefined) || this.push(null))
      .on('error', (error) => this.lose(error) || this.destroy(error))
      // After an orderly end there may be bytes that nobody has read yet: then the end comes with them.
      .on('close', () => this.lose(undefined) || socket.readableEnded || this.destroy())
    if (socket.readableEnded) this.push(null)
  }

  /** How the connection ended while the flight was held here, if it did. */
  get loss(): Loss | undefined {
    return this.#loss ?? (this.destroyed ? { cause: this.errored ?? undefined } : undefined)
  }

  /**
   * Notes that the connection is of no use any more, while the flight is held here.
   *
   * @returns Whether it is: then the end waits, because somebody may be about to sign.
   */
  lose(cause: Error | undefined): boolean {
    if (this.#follower === undefined || this.#goOn === undefined) return false
    this.#loss ??= { cause }
    return true
  }

  /** Sends a flight, what OpenSSL wrote after it, and from then on everything as it comes. */
  release(flight: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const [follower, goOn] = [this.#follower, this.#goOn]
      if (follower === undefined || goOn === undefined) {
        reject(new Error('there is no flight to release'))
        return
      }
      this.#follower = undefined
      const bytes = Buffer.concat([...this.#before, flight, follower.takeHeld()])
      this.#socket.write(bytes, (error) => {
        if (error) reject(error)
        else {
          resolve()
          goOn()
        }
      })
    })
  }

  /** Ends the connection, and tells the server why if it still waits for the flight. */
  abandon(alert: Alert): void {
    this.#farewell(alert)
    this.destroy()
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (this.#follower === undefined) this.#socket.write(chunk, this.#orDestroy(done))
    else this.#follow(this.#follower, chunk, done)
  }

  override _writev(chunks: Chunk[], done: Done): void {
    const all = chunks.map(({ chunk }) => chunk)
    if (this.#follower === undefined) this.#send(all, done)
    else this.#follow(this.#follower, Buffer.concat(all), done)
  }

  override _final(done: Done): void {
    // A socket that has ended already has nothing to say here.
    this.#socket.end(() => done())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Without a word from us it was Node that ended it: it did not accept the server.
    this.#farewell(error instanceof HandshakeProblem ? error.alert : ALERT.certificateUnknown)
    this.#onFlight(error ?? new Error('closed before the connection was made'))
    this.#socket.destroy()
    done(error)
  }

  #fromServer(chunk: Buffer): void {
    this.#follower?.fromServer(chunk)
    if (!this.push(chunk)) this.#socket.pause()
  }

  #follow(follower: HandshakeFollower, bytes: Buffer, done: Done): void {
    let forward: Buffer[]
    try {
      forward = follower.fromClient(bytes)
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    this.#hasChangedCipherSpec ||= forward.some(([type]) => type === RECORD.changeCipherSpec)
    if (follower.state === 'gaveUp') this.#forget()
    if (follower.state !== 'flight') {
      this.#send(forward, done)
      return
    }
    this.#before = forward
    this.#goOn = done
    this.#onFlight()
  }

  /** One system call for all of them. */
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

  #farewell(alert: Alert): void {
    const follower = this.#forget()
    if (follower === undefined || !this.#socket.writable) return
    try {
      const protection = follower.protectClient()
      // RFC 8446, section D.4: before the first encrypted record of a client.
      const before = this.#hasChangedCipherSpec ? this.#before : [CHANGE_CIPHER_SPEC]
      this.#socket.write(Buffer.concat([...before, sealAlert(protection, alert)]))
      protection.wipe()
    } catch {
      // Before both sides have keys there is no way to say it.
    }
  }

  #forget(): HandshakeFollower | undefined {
    const follower = this.#follower
    this.#follower = undefined
    return follower
  }
}
