import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { CertificatePair } from '../credential/credential.ts'
import { dial } from '../dial/dial.ts'
import type { Target } from '../dial/target.ts'
import { NotSupportedError } from '../errors/index.ts'

/** Timeouts of HTTP/2 connections; only tests change them. */
export interface Http2Timeouts extends HealthCheckTimeouts {
  /** From the end of the TLS handshake to the server's SETTINGS frame. */
  readonly settingsTimeoutMs: number
}

/** As in client-go: a ping after 30 s without data, 15 s for its response. Idle connections as in the undici pool. */
export const HTTP2_TIMEOUTS: Http2Timeouts = {
  settingsTimeoutMs: 30_000,
  idleTimeoutMs: 60_000,
  checkIntervalMs: 10_000,
  readIdleTimeoutMs: 30_000,
  pingTimeoutMs: 15_000,
}

/** The flow-control window of a stream: larger than Node's 64 KiB, for distant servers. */
const STREAM_WINDOW = 1024 * 1024
const CONNECTION_WINDOW = 16 * 1024 * 1024
/** In megabytes. Data in flight counts, so ten large responses would reach Node's default of 10. */
const MAX_SESSION_MEMORY = 256

/** One HTTP/2 connection: counts its streams, and closes when it is dead or idle. */
export class Http2Connection {
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #healthCheck: Http2HealthCheck
  readonly #onChange: () => void
  #openStreams = 0
  #isClosing = false
  /** The highest stream that the server may have processed, from its GOAWAY frame. */
  #lastStreamId = Number.POSITIVE_INFINITY
  #error: Error | undefined

  /** @param onChange Called when a stream or the connection has ended. */
  constructor(origin: string, socket: Socket, times: Http2Timeouts, onChange: () => void) {
    this.#socket = socket
    this.#onChange = onChange
    const session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      maxSessionMemory: MAX_SESSION_MEMORY,
    })
    this.#session = session
    // Node's session ignores a TLS alert: only the socket reports it, and nothing would end.
    socket.on('error', (error) => this.destroy(error))
    session.on('error', (error) => this.destroy(error))
    session.on('goaway', (_code, lastStreamId) => {
      this.#lastStreamId = Math.min(this.#lastStreamId, lastStreamId)
    })
    this.#healthCheck = new Http2HealthCheck(session, socket, times, {
      isBusy: () => this.#openStreams > 0,
      onIdle: () => this.closeIfIdle(),
    })
    session.once('close', () => {
      this.#healthCheck.stop()
      onChange()
    })
  }

  /** Resolves when the server's SETTINGS frame has arrived; before that the server may still refuse our certificate. */
  settingsReceived(limitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const session = this.#session
      const end = (reason: Error): void => this.destroy(reason)
      const abort = (): void => end(signal.reason)
      const timeout = (): void => end(connectionError('ETIMEDOUT', 'no HTTP/2 settings received'))
      const timer = setTimeout(timeout, limitMs)
      const cleanUp = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        session.off('close', ended).off('remoteSettings', received)
      }
      const received = (): void => {
        cleanUp()
        session.setLocalWindowSize(CONNECTION_WINDOW)
        this.#becomeIdle()
        resolve()
      }
      const ended = (): void => {
        cleanUp()
        reject(this.error)
      }
      session.once('close', ended).once('remoteSettings', received)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }

  /** Whether new streams may be opened. */
  get isUsable(): boolean {
    return !this.#isClosing && !this.#session.closed && !this.#session.destroyed
  }

  /** Whether the connection has ended. */
  get isEnded(): boolean {
    return this.#session.destroyed
  }

  /** The reason why the connection broke, as far as it is known. */
  get error(): Error {
    return this.#error ?? connectionError('ECONNRESET', 'the server closed the connection')
  }

  /** How many streams the server accepts at once. At least one: a limit of zero is temporary, and Node waits. */
  get capacity(): number {
    return Math.max(this.#session.remoteSettings.maxConcurrentStreams ?? 1, 1)
  }

  get hasRoom(): boolean {
    return this.isUsable && this.#openStreams < this.capacity
  }

  /** Whether the server sent GOAWAY after it had processed some streams: the next connection will make progress. */
  get hasProcessedSome(): boolean {
    return this.#lastStreamId > 0 && this.#lastStreamId < Number.POSITIVE_INFINITY
  }

  /** Whether the server cannot have processed this stream. */
  isUnprocessed({ id }: ClientHttp2Stream): boolean {
    return id === undefined || id > this.#lastStreamId
  }

  /** Reserves a place for a stream, which `open` uses and `leave` gives back. */
  enter(): void {
    if (this.#openStreams === 0) this.#session.ref()
    this.#openStreams += 1
    if (this.#openStreams === 1) this.#healthCheck.restart()
  }

  /** Gives a place back. */
  leave(): void {
    this.#openStreams -= 1
    if (this.#openStreams === 0) this.#becomeIdle()
    this.#onChange()
  }

  /**
   * Opens a stream in a reserved place, which the caller gives back when it closes. If it throws, the place is still
   * reserved.
   *
   * Node ends the whole session for a header that it cannot write, and may not report it on the stream.
   */
  open(headers: OutgoingHttpHeaders, options?: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#session.request(headers, options)
    if (this.isEnded) {
      stream.on('error', () => {}).destroy()
      throw new Error('Node.js cannot send this request over HTTP/2')
    }
    return stream
  }

  /** Closes the connection if it has no streams; otherwise call it again when they have ended. */
  closeIfIdle(): void {
    if (this.#openStreams > 0) return
    this.#isClosing = true
    this.#becomeIdle()
  }

  /** Ends the connection and its streams. */
  destroy(reason: Error): void {
    this.#error ??= reason
    this.#isClosing = true
    afterNghttp2(() => {
      this.#session.destroy(reason)
      this.#socket.destroy()
    })
  }

  /** Stops keeping the process alive, and ends a connection that is closing. */
  #becomeIdle(): void {
    this.#session.unref()
    this.#healthCheck.restart()
    if (!this.isUsable && !this.isEnded) afterNghttp2(() => this.#session.destroy())
  }
}

/**
 * Ends a session after Node has left nghttp2.
 *
 * Events of a session, and promises that continue after them, run while nghttp2 reads. Ending a session there frees
 * memory that is still in use: the process is aborted, or worse (nodejs/node#64113). Cancelling a stream is safe;
 * destroying one with an error is not.
 */
function afterNghttp2(end: () => void): void {
  setImmediate(end)
}

/** Makes an error with one of Node's codes, which is later explained to the caller. */
export function connectionError(code: 'ECONNRESET' | 'ETIMEDOUT', message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** The names are those of Go's `http2.Transport`. */
interface HealthCheckTimeouts {
  /** How often the connection is checked. */
  readonly checkIntervalMs: number
  /** After how long without data on open streams a ping is sent. */
  readonly readIdleTimeoutMs: number
  /** How long the response to the ping may take. */
  readonly pingTimeoutMs: number
  /** How long a connection without streams is kept. */
  readonly idleTimeoutMs: number
}

interface HealthCheckOwner {
  /** Whether streams are open. */
  isBusy(): boolean
  /** Called when there have been no streams for `idleTimeoutMs`. */
  onIdle(): void
}

/**
 * Detects that a connection is dead or idle.
 *
 * A host that disappears closes no connection: without a ping, a watch would wait for its next event forever.
 */
class Http2HealthCheck {
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #times: HealthCheckTimeouts
  readonly #owner: HealthCheckOwner
  readonly #timer: NodeJS.Timeout
  /** Since when no data has arrived, or no stream has been open. */
  #quietSince = performance.now()
  #bytesRead = 0
  #isPinging = false

  constructor(
    session: ClientHttp2Session,
    socket: Socket,
    times: HealthCheckTimeouts,
    owner: HealthCheckOwner,
  ) {
    this.#session = session
    this.#socket = socket
    this.#times = times
    this.#owner = owner
    this.#timer = setInterval(() => this.#check(), times.checkIntervalMs).unref()
  }

  /** Measures from now on: the first stream was opened, the last one ended, or data arrived. */
  restart(): void {
    this.#quietSince = performance.now()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const { bytesRead } = this.#socket
    if (this.#owner.isBusy() && bytesRead !== this.#bytesRead) {
      this.#bytesRead = bytesRead
      this.restart()
      return
    }
    const quietMs = performance.now() - this.#quietSince
    if (!this.#owner.isBusy()) {
      if (quietMs >= this.#times.idleTimeoutMs) this.#owner.onIdle()
    } else if (quietMs >= this.#times.readIdleTimeoutMs && !this.#isPinging) this.#ping()
  }

  #ping(): void {
    const { pingTimeoutMs } = this.#times
    const end = (): void => this.#session.destroy(pingTimeout(pingTimeoutMs))
    const timer = setTimeout(end, pingTimeoutMs).unref()
    this.#isPinging = this.#session.ping(() => {
      this.#isPinging = false
      clearTimeout(timer)
      this.restart()
    })
    if (!this.#isPinging) clearTimeout(timer)
  }
}

function pingTimeout(pingTimeoutMs: number): Error {
  return connectionError('ETIMEDOUT', `no response to an HTTP/2 ping within ${pingTimeoutMs} ms`)
}

interface Http2DialOptions {
  readonly times: Http2Timeouts
  readonly signal: AbortSignal
  /** Called when a stream or the connection has ended. */
  readonly onChange: () => void
}

/**
 * Opens an HTTP/2 connection. Resolves when requests can be sent on it.
 *
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` if the server does not support HTTP/2.
 */
export async function dialHttp2(
  target: Target,
  certificate: CertificatePair | undefined,
  { times, signal, onChange }: Http2DialOptions,
): Promise<Http2Connection> {
  if (!target.origin.startsWith('https:')) throw noHttp2(target, 'it needs TLS')
  // Before anything is signed: a signature may need a person.
  const checkFirst = (socket: TLSSocket): void => {
    if (socket.alpnProtocol !== 'h2') throw noHttp2(target, NOT_NEGOTIATED)
  }
  const options = { signal, protocols: ['h2'], beforeSigning: checkFirst }
  const socket = await dial(target, certificate, options).catch((error: unknown) => {
    const { code = '' } = (error ?? {}) as { code?: string }
    throw code.includes('NO_APPLICATION_PROTOCOL') ? noHttp2(target, NOT_NEGOTIATED, error) : error
  })
  if ((socket as TLSSocket).alpnProtocol !== 'h2') {
    socket.destroy()
    throw noHttp2(target, NOT_NEGOTIATED)
  }
  const connection = new Http2Connection(target.origin, socket, times, onChange)
  await connection.settingsReceived(times.settingsTimeoutMs, signal)
  if (!connection.isUsable) throw connection.error
  return connection
}

const HINT = "Leave out transport: 'http2': the other transports use HTTP/1.1."
const NOT_NEGOTIATED = 'the server did not select it in the TLS handshake (ALPN)'

function noHttp2({ origin }: Target, why: string, cause?: unknown): NotSupportedError {
  return new NotSupportedError(`${origin} does not support HTTP/2: ${why}`, {
    hint: HINT,
    ...(cause !== undefined && { cause }),
  })
}
