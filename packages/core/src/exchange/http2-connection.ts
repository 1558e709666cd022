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
import { RUNTIME } from '../node/environment.ts'

/** How long things may take; only tests have other ones. */
export interface Http2Times extends PulseTimes {
  /** From the end of the TLS handshake to the server's settings. */
  readonly openMs: number
  /** How long a connection without streams is kept. */
  readonly idleMs: number
}

/** As client-go: a ping after 30 s of silence, 15 s to answer it. Idle as long as the pool keeps connections. */
export const HTTP2_TIMEOUTS: Http2Times = {
  openMs: 30_000,
  idleMs: 60_000,
  lookMs: 10_000,
  quietMs: 30_000,
  answerMs: 15_000,
}

/** What a stream may have on its way to us before it is read; more than Node's 64 KiB, for far servers. */
const STREAM_WINDOW = 1024 * 1024
const CONNECTION_WINDOW = 16 * 1024 * 1024
/** In megabytes. What is on its way counts, so Node's 10 would be reached by ten large responses. */
const MEMORY_LIMIT = 256

/** One HTTP/2 connection: counts its streams, notices when it is dead or idle, and ends. */
export class Http2Connection {
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #pulse: Http2Pulse
  readonly #onChange: () => void
  #open = 0
  /** Whether it is about to end. */
  #isLeaving = false
  /** The highest stream the server has looked at, once it said so. */
  #lastSeen = Number.POSITIVE_INFINITY
  #error: Error | undefined

  /** @param onChange Called when a stream or the connection has ended. */
  constructor(origin: string, socket: Socket, times: Http2Times, onChange: () => void) {
    this.#socket = socket
    this.#onChange = onChange
    const session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      maxSessionMemory: MEMORY_LIMIT,
    })
    this.#session = session
    // Node's session does not notice a TLS alert: only the socket says it, and nothing ends.
    socket.on('error', (error) => this.destroy(error))
    session.on('error', (error) => this.destroy(error))
    session.on('goaway', (_code, lastSeen) => {
      this.#lastSeen = Math.min(this.#lastSeen, lastSeen)
    })
    this.#pulse = new Http2Pulse(session, socket, times, {
      isBusy: () => this.#open > 0,
      onIdle: () => this.closeIfIdle(),
    })
    session.once('close', () => {
      this.#pulse.stop()
      onChange()
    })
  }

  /** Resolves when the server has said how many streams it takes; before that it may still refuse our certificate. */
  greeted(limitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const session = this.#session
      const end = (reason: Error): void => this.destroy(reason)
      const abort = (): void => end(signal.reason)
      const timer = setTimeout(() => end(broken('ETIMEDOUT', 'no HTTP/2 settings came')), limitMs)
      const leave = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        session.off('close', ended).off('remoteSettings', greet)
      }
      const greet = (): void => {
        leave()
        session.setLocalWindowSize(CONNECTION_WINDOW)
        this.#rest()
        resolve()
      }
      const ended = (): void => {
        leave()
        reject(this.error)
      }
      session.once('close', ended).once('remoteSettings', greet)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }

  /** Whether new streams may be opened on it. */
  get isUsable(): boolean {
    return !this.#isLeaving && !this.#session.closed && !this.#session.destroyed
  }

  /** Whether nothing can come from it any more. */
  get isEnded(): boolean {
    return this.#session.destroyed
  }

  /** Why it broke, as well as we know. */
  get error(): Error {
    return this.#error ?? broken('ECONNRESET', 'the server closed the connection')
  }

  /** How many streams the server takes at once. One at least: zero is for a moment, and Node waits. */
  get capacity(): number {
    return Math.max(this.#session.remoteSettings.maxConcurrentStreams ?? 1, 1)
  }

  get hasRoom(): boolean {
    return this.isUsable && this.#open < this.capacity
  }

  /** Whether the server ends it, but took some of its streams: the next connection will get further. */
  get hasMoved(): boolean {
    return this.#lastSeen > 0 && this.#lastSeen < Number.POSITIVE_INFINITY
  }

  /** Whether the server cannot have looked at this stream. */
  hasMissed({ id }: ClientHttp2Stream): boolean {
    return id === undefined || id > this.#lastSeen
  }

  /** Reserves a place for a stream, which `open` fills or `leave` gives back. */
  enter(): void {
    if (this.#open === 0) this.#session.ref()
    this.#open += 1
    if (this.#open === 1) this.#pulse.begin()
  }

  /** Gives a place back. */
  leave(): void {
    this.#open -= 1
    if (this.#open === 0) this.#rest()
    this.#onChange()
  }

  /**
   * Begins a stream in a reserved place. When it throws, the place is still reserved.
   *
   * Node ends the whole session for a header that it cannot write, and the stream may never say so.
   */
  open(headers: OutgoingHttpHeaders, options: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#session.request(headers, options)
    if (this.isEnded) {
      stream.on('error', () => {}).destroy()
      throw new Error('Node cannot send this request over HTTP/2')
    }
    return stream.once('close', () => this.leave())
  }

  /** Ends if it has no streams; with them it can go on, and is to be asked again. */
  closeIfIdle(): void {
    if (this.#open > 0) return
    this.#isLeaving = true
    this.#rest()
  }

  /** Ends at once. */
  destroy(reason: Error): void {
    this.#error ??= reason
    this.#isLeaving = true
    later(() => {
      this.#session.destroy(reason)
      this.#socket.destroy()
    })
  }

  /** Without streams it must not keep the process alive, and if it is closing it is done. */
  #rest(): void {
    this.#session.unref()
    this.#pulse.begin()
    if (!this.isUsable && !this.isEnded) later(() => this.#session.destroy())
  }
}

/**
 * What ends a session waits until Node has left nghttp2.
 *
 * Events of a session, and every promise that goes on after one, run while nghttp2 reads. To end a session
 * there frees memory that it still uses: the process is aborted, or worse (nodejs/node#64113). To cancel a
 * stream is safe; to destroy one with an error is not.
 */
function later(end: () => void): void {
  setImmediate(end)
}

/** An error with one of Node's codes, which the caller is told in words. */
export function broken(code: 'ECONNRESET' | 'ETIMEDOUT', message: string): Error {
  return Object.assign(new Error(message), { code })
}

interface PulseTimes {
  /** How often to look. */
  readonly lookMs: number
  /** How long nothing may come while streams are open before we ask. */
  readonly quietMs: number
  /** How long the answer may take. */
  readonly answerMs: number
  readonly idleMs: number
}

interface PulseOwner {
  /** Whether streams are open. */
  isBusy(): boolean
  /** Called when there were none for long. */
  onIdle(): void
}

/**
 * Notices that a connection is dead, or that nobody needs it.
 *
 * A machine that is gone closes nothing: without a ping, a watch would wait for its next event for ever.
 */
class Http2Pulse {
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #times: PulseTimes
  readonly #owner: PulseOwner
  readonly #timer: NodeJS.Timeout
  /** Since when nothing came, or nothing was asked for. */
  #quietSince = performance.now()
  #bytesRead = 0
  #isAsking = false

  constructor(session: ClientHttp2Session, socket: Socket, times: PulseTimes, owner: PulseOwner) {
    this.#session = session
    this.#socket = socket
    this.#times = times
    this.#owner = owner
    this.#timer = setInterval(() => this.#look(), times.lookMs).unref()
  }

  /** Counts from now: the first stream was opened, or the last one ended. */
  begin(): void {
    this.#quietSince = performance.now()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const { bytesRead } = this.#socket
    if (this.#owner.isBusy() && bytesRead !== this.#bytesRead) {
      this.#bytesRead = bytesRead
      this.begin()
      return
    }
    const quietMs = performance.now() - this.#quietSince
    if (!this.#owner.isBusy()) {
      if (quietMs >= this.#times.idleMs) this.#owner.onIdle()
    } else if (quietMs >= this.#times.quietMs && !this.#isAsking) this.#ask()
  }

  #ask(): void {
    const { answerMs } = this.#times
    const timer = setTimeout(() => this.#session.destroy(silent(answerMs)), answerMs).unref()
    this.#isAsking = this.#session.ping(() => {
      this.#isAsking = false
      clearTimeout(timer)
      this.begin()
    })
    if (!this.#isAsking) clearTimeout(timer)
  }
}

function silent(answerMs: number): Error {
  const message = `the server has gone silent: no answer to a ping within ${answerMs} ms`
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' })
}

interface Http2DialOptions {
  readonly times: Http2Times
  readonly signal: AbortSignal
  /** Called when a stream or the connection has ended. */
  readonly onChange: () => void
}

/**
 * Opens one HTTP/2 connection; resolves when requests can be sent on it.
 *
 * @throws {NotSupportedError} The server does not speak HTTP/2.
 */
export async function dialHttp2(
  target: Target,
  certificate: CertificatePair | undefined,
  { times, signal, onChange }: Http2DialOptions,
): Promise<Http2Connection> {
  if (RUNTIME === 'Deno') {
    // Its session cannot use a connection that exists, and its errors end the process.
    throw new NotSupportedError('HTTP/2 does not work under Deno', { hint: HINT })
  }
  if (!target.origin.startsWith('https:')) throw notSpoken(target, 'it is offered by TLS only')
  // Found out before anything is signed: a signature may cost a person's time.
  const checkFirst = (socket: TLSSocket): void => {
    if (socket.alpnProtocol !== 'h2') throw notSpoken(target, REFUSED)
  }
  const options = { signal, protocols: ['h2'], beforeSigning: checkFirst }
  const socket = await dial(target, certificate, options).catch((error: unknown) => {
    const { code = '' } = (error ?? {}) as { code?: string }
    throw code.includes('NO_APPLICATION_PROTOCOL') ? notSpoken(target, REFUSED, error) : error
  })
  if ((socket as TLSSocket).alpnProtocol !== 'h2') {
    socket.destroy()
    throw notSpoken(target, REFUSED)
  }
  const connection = new Http2Connection(target.origin, socket, times, onChange)
  await connection.greeted(times.openMs, signal)
  if (!connection.isUsable) throw connection.error
  return connection
}

const HINT = "Leave transport: 'http2' out: the other transports speak HTTP/1.1."
const REFUSED = 'the server did not choose it in the TLS handshake'

function notSpoken({ origin }: Target, why: string, cause?: unknown): NotSupportedError {
  return new NotSupportedError(`${origin} does not speak HTTP/2: ${why}`, {
    hint: HINT,
    ...(cause !== undefined && { cause }),
  })
}
