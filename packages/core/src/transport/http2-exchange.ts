import { setMaxListeners } from 'node:events'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CertificatePair } from '../protocol/credential.ts'
import type { Closable } from '../vault/derived.ts'
import type { Exchange, Incoming, Try } from './exchange.ts'
import { HTTP2_TIMES, type Http2Connection, type Http2Times } from './http2-connection.ts'
import { dialHttp2 } from './http2-dial.ts'
import { sendStream, type Unanswered } from './http2-stream.ts'
import { readAlert } from './network-errors.ts'
import type { Target } from './target.ts'
import { UnprocessedError } from './unprocessed.ts'

/** Sends requests as streams of HTTP/2 connections, one set of them per identity and server. */
export function http2Exchange(times: Http2Times = HTTP2_TIMES): Exchange {
  return {
    async send(target, lease, attempt) {
      try {
        return await sendOverHttp2(target, lease, attempt, times)
      } catch (error) {
        if (attempt.body instanceof Readable) attempt.body.destroy()
        throw error
      }
    },
  }
}

/** The same, but a request that fails keeps its body: who knows another way can send it there. */
export function sendOverHttp2(
  target: Target,
  { credential, derived }: Parameters<Exchange['send']>[1],
  attempt: Try,
  times: Http2Times = HTTP2_TIMES,
): Promise<Incoming> {
  const { certificate } = credential
  return derived
    .get('http2', target.key, () => new Http2Connections(target, certificate, times))
    .send(attempt)
}

/** What the server takes on one connection before it has told us; Go's own guess. */
const LIKELY_CAPACITY = 100
/** How often a request is sent again that the server refused to look at: the second time after a pause. */
const MOST_REPEATS = 3
const FIRST_PAUSE_MS = 25

interface Waiting {
  readonly proceed: (connection: Http2Connection) => void
  readonly fail: (reason: unknown) => void
}

/** The connections of one identity to one server: mostly one, more when it is full. */
class Http2Connections implements Closable {
  readonly #target: Target
  readonly #certificate: CertificatePair | undefined
  readonly #times: Http2Times
  readonly #open = new Set<Http2Connection>()
  /** Requests for which there is no room yet, oldest first. */
  readonly #queue: Waiting[] = []
  readonly #dialing = new AbortController()
  #dials = 0
  #capacity = LIKELY_CAPACITY
  #isLeft = false
  /** Those who wait for the last connection to end. */
  readonly #closing: (() => void)[] = []

  constructor(target: Target, certificate: CertificatePair | undefined, times: Http2Times) {
    this.#target = target
    this.#certificate = certificate
    this.#times = times
    setMaxListeners(0, this.#dialing.signal)
  }

  async send(attempt: Try): Promise<Incoming> {
    for (let repeats = 0; ; repeats += 1) {
      const connection = await this.#enter(attempt.signal)
      attempt.checkOpen()
      const answer = await sendStream(connection, this.#target.origin, attempt)
      if ('statusCode' in answer) return answer
      if (answer.is === 'unprocessed' && connection.hasMoved) {
        throw new UnprocessedError(answer.error)
      }
      if (!mayTryAgain(attempt, answer, repeats)) throw answer.error
      if (repeats > 0) await pause(FIRST_PAUSE_MS * 2 ** repeats, attempt.signal)
    }
  }

  /** Requests in flight finish first, however long they last. */
  async close(): Promise<void> {
    this.#isLeft = true
    // Somebody may have been given the lease just now and be on the way to `send`.
    await new Promise((resolve) => setImmediate(resolve))
    this.#settle()
    if (!this.#isDone) await new Promise<void>((resolve) => this.#closing.push(resolve))
  }

  destroy(reason: Error): void {
    this.#isLeft = true
    this.#dialing.abort(reason)
    for (const { fail } of this.#queue.splice(0)) fail(reason)
    for (const connection of this.#open) connection.destroy(reason)
  }

  /** Reserves a place on a connection: at once, or when there is one. */
  #enter(signal: AbortSignal | undefined): Promise<Http2Connection> | Http2Connection {
    const connection = this.#queue.length === 0 ? this.#findRoom() : undefined
    if (connection === undefined) return this.#wait(signal)
    connection.enter()
    return connection
  }

  #findRoom(): Http2Connection | undefined {
    for (const connection of this.#open) if (connection.hasRoom) return connection
    return undefined
  }

  #wait(signal: AbortSignal | undefined): Promise<Http2Connection> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        proceed: (connection) => {
          signal?.removeEventListener('abort', leave)
          connection.enter()
          resolve(connection)
        },
        fail: (reason) => {
          signal?.removeEventListener('abort', leave)
          reject(reason)
        },
      }
      const leave = (): void => {
        const at = this.#queue.indexOf(waiting)
        if (at !== -1) this.#queue.splice(at, 1)
        reject(signal?.reason)
      }
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#queue.push(waiting)
      this.#settle()
    })
  }

  /** Gives room to those who wait, opens connections for the others, and ends what is not needed any more. */
  readonly #settle = (): void => {
    for (const connection of this.#open) if (connection.isEnded) this.#open.delete(connection)
    for (;;) {
      const connection = this.#queue.length > 0 ? this.#findRoom() : undefined
      if (connection === undefined) break
      this.#queue.shift()?.proceed(connection)
    }
    while (this.#dials * this.#capacity < this.#queue.length) void this.#dial()
    if (!this.#isLeft) return
    // The others end with their last stream, which leads here again.
    for (const connection of this.#open) connection.closeIfIdle()
    if (this.#isDone) for (const done of this.#closing.splice(0)) done()
  }

  get #isDone(): boolean {
    return this.#open.size === 0 && this.#dials === 0 && this.#queue.length === 0
  }

  /** Never rejects: those who wait are told. */
  async #dial(): Promise<void> {
    this.#dials += 1
    try {
      const connection = await dialHttp2(this.#target, this.#certificate, {
        times: this.#times,
        signal: this.#dialing.signal,
        onChange: this.#settle,
      })
      this.#capacity = connection.capacity
      this.#open.add(connection)
      this.#dials -= 1
    } catch (error) {
      this.#dials -= 1
      // The others may still have more luck, and take them all.
      if (this.#dials === 0) for (const { fail } of this.#queue.splice(0)) fail(error)
    }
    this.#settle()
  }
}

function mayTryAgain({ method, body, signal }: Try, why: Unanswered, repeats: number): boolean {
  if (signal?.aborted || readAlert(why.error) !== undefined) return false
  if (why.is === 'unprocessed') {
    return repeats < MOST_REPEATS && !(body instanceof Readable && body.destroyed)
  }
  // What changes nothing on the server is sent once more: a connection that was kept may have died unnoticed.
  return why.is === 'broken' && repeats === 0 && (method === 'GET' || method === 'HEAD')
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {})
}
