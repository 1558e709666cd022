import { setMaxListeners } from 'node:events'
import type { CertificatePair } from '../credential/credential.ts'
import type { Target } from '../dial/target.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'
import type { ConnectionOwner, Connections, Exchange, Sendable } from './exchange.ts'
import { CallbackController } from './handler.ts'
import {
  dialHttp2,
  HTTP2_TIMEOUTS,
  type Http2Connection,
  type Http2Timeouts,
} from './http2-connection.ts'
import { sendStream } from './http2-stream.ts'

/** Returns an exchange that sends requests as streams of HTTP/2 connections. */
export function http2Exchange(times: Http2Timeouts = HTTP2_TIMEOUTS): Exchange {
  return { open: (target, owner) => openHttp2(target, owner, times) }
}

/** Returns the HTTP/2 connections of one identity to one server. */
export function openHttp2(
  target: Target,
  { credential, resources }: ConnectionOwner,
  times: Http2Timeouts = HTTP2_TIMEOUTS,
): Http2Connections {
  const make = (): Http2Connections => new Http2Connections(target, credential.certificate, times)
  return resources.get('http2', target.key, make)
}

/** How many streams a server is assumed to accept before its SETTINGS arrive; the same as in Go. */
const DEFAULT_CAPACITY = 100

/** Usually one connection, and more when it is full. */
class Http2Connections implements Connections {
  readonly #target: Target
  readonly #certificate: CertificatePair | undefined
  readonly #times: Http2Timeouts
  readonly #open = new Set<Http2Connection>()
  /** Requests for which there is no room yet. */
  readonly #queue = new AbortableQueue<Http2Connection>()
  readonly #dialing = new AbortController()
  #dials = 0
  #capacity = DEFAULT_CAPACITY
  #isClosed = false
  /** Resolve functions of `close` calls. */
  readonly #closing: (() => void)[] = []

  constructor(target: Target, certificate: CertificatePair | undefined, times: Http2Timeouts) {
    this.#target = target
    this.#certificate = certificate
    this.#times = times
    setMaxListeners(0, this.#dialing.signal)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  send(call: Sendable): void {
    const connection = this.#queue.size === 0 ? this.#findRoom() : undefined
    connection?.enter()
    if (connection === undefined || !sendStream(connection, this.#target.origin, call)) {
      this.#queueUp(call)
    }
  }

  /** Opens a connection if none has room. Resolves when requests can be sent. */
  async opened(): Promise<void> {
    if (this.#findRoom() !== undefined) return
    const opened = this.#queue.wait()
    this.#settle()
    ;(await opened).leave()
  }

  /** Closes the connections after requests in flight have finished, however long they last. */
  async close(): Promise<void> {
    this.#isClosed = true
    // A request may have just received the lease and not have called `send` yet.
    await new Promise((resolve) => setImmediate(resolve))
    this.#settle()
    if (!this.#isDone) await new Promise<void>((resolve) => this.#closing.push(resolve))
  }

  destroy(reason: Error): void {
    this.#isClosed = true
    this.#dialing.abort(reason)
    this.#queue.rejectAll(reason)
    for (const connection of this.#open) connection.destroy(reason)
  }

  #findRoom(): Http2Connection | undefined {
    for (const connection of this.#open) if (connection.hasRoom) return connection
    return undefined
  }

  #queueUp(call: Sendable): void {
    const gone = new AbortController()
    // Controls the call until there is a stream, so that it can be aborted while it waits.
    const waiting = new CallbackController({
      onAbort: (reason) => gone.abort(reason),
      onPause() {},
      onResume() {},
    })
    call.onRequestStart(waiting, null)
    this.#queue.wait(gone.signal).then(
      (connection) => {
        if (gone.signal.aborted) connection.leave()
        else if (!sendStream(connection, this.#target.origin, call)) this.#queueUp(call)
      },
      (error: Error) => call.onResponseError(waiting, error),
    )
    this.#settle()
  }

  /** Sends waiting requests on connections with room, opens connections for the rest, and closes unneeded ones. */
  readonly #settle = (): void => {
    for (const connection of this.#open) if (connection.isEnded) this.#open.delete(connection)
    for (;;) {
      const connection = this.#queue.size > 0 ? this.#findRoom() : undefined
      if (connection === undefined) break
      connection.enter()
      this.#queue.next(connection)
    }
    while (this.#dials * this.#capacity < this.#queue.size) void this.#dial()
    if (!this.#isClosed) return
    // The others close after their last stream, which calls this again.
    for (const connection of this.#open) connection.closeIfIdle()
    if (this.#isDone) for (const done of this.#closing.splice(0)) done()
  }

  get #isDone(): boolean {
    return this.#open.size === 0 && this.#dials === 0 && this.#queue.size === 0
  }

  /** Opens a connection. Never rejects: waiting requests get the error. */
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
      // Other connections that are being opened may still serve the waiting requests.
      if (this.#dials === 0) this.#queue.rejectAll(error)
    }
    this.#settle()
  }
}
