import type { Duplex } from 'node:stream'

/** Headers of a response, names in lower case. */
export type ResponseHeaders = Record<string, string | string[] | undefined>

/** Headers as they were received: name, value, name, value. undici's interceptors also use lists as values. */
export type RawHeaders = readonly (string | Buffer | readonly (string | Buffer)[])[]

/** Controls a request that is in flight; the same as undici's `DispatchController`. */
export interface Controller {
  readonly aborted: boolean
  readonly paused: boolean
  readonly reason: Error | null
  rawHeaders?: RawHeaders | ResponseHeaders | null
  rawTrailers?: RawHeaders | ResponseHeaders | null
  abort(reason?: Error): void
  pause(): void
  resume(): void
}

/** Receives the events of a request; undici's own interface since version 7, which all exchanges use. */
export interface Handler {
  onRequestStart(controller: Controller, context: unknown): void
  onRequestUpgrade?(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: Duplex,
  ): void
  onResponseStart?(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    statusText?: string,
  ): void
  onResponseData?(controller: Controller, chunk: Buffer): void
  onResponseEnd?(controller: Controller, trailers: ResponseHeaders): void
  onResponseError?(controller: Controller | null, error: Error): void
  onBodySent?(chunk: unknown): void
  onRequestSent?(): void
  onResponseStarted?(): void
}

interface ControllerCallbacks {
  onAbort(reason: Error | undefined): void
  onPause(): void
  onResume(): void
}

/** A controller that calls back. */
export class CallbackController implements Controller {
  rawHeaders: RawHeaders | ResponseHeaders | null = null
  rawTrailers: RawHeaders | ResponseHeaders | null = null
  readonly #callbacks: ControllerCallbacks
  #aborted = false
  #paused = false
  #reason: Error | null = null

  constructor(callbacks: ControllerCallbacks) {
    this.#callbacks = callbacks
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get paused(): boolean {
    return this.#paused
  }

  get reason(): Error | null {
    return this.#reason
  }

  abort(reason?: Error): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason ?? null
    this.#callbacks.onAbort(reason)
  }

  pause(): void {
    this.#paused = true
    this.#callbacks.onPause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#callbacks.onResume()
  }
}

/**
 * Why there was no response, if that decides whether the request may be sent again.
 *
 * - `unprocessed`: the server closed the connection after earlier requests and did not process this one. kube-apiserver
 *   does so after a 401, so the credential may have changed meanwhile.
 * - `busy`: the server did not process the request, and would do the same again at once.
 * - `stale`: a kept-alive connection had been closed before the request was sent on it.
 */
type NoResponseReason = 'unprocessed' | 'busy' | 'stale'

/** Says that there was no response, and more about the reason than the connection's error (its `cause`). */
export class NoResponseError extends Error {
  readonly reason: NoResponseReason

  constructor(reason: NoResponseReason, cause: unknown) {
    super('no response to the request', { cause })
    this.reason = reason
  }
}
