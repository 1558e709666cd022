import type { Duplex } from 'node:stream'
import { ForeignOriginError } from '../../errors/index.ts'
import type { Sendable } from '../../exchange/exchange.ts'
import {
  CallbackController,
  type Controller,
  type Handler,
  NoResponseError,
  type RawHeaders,
  type ResponseHeaders,
} from '../../exchange/handler.ts'
import type { LegacyHandler } from './handlers.ts'

/** What happens to a request of the user's undici that concerns its connection. */
interface ConnectionHooks {
  /** Called when the connection is free again, or was handed over. */
  onDone?(): void
  onUpgrade?(socket: Duplex): void
}

/**
 * The handler of a call for the user's undici, which all versions can call: 6 by the older names, 8 by the newer ones,
 * and 7 looks for the newer ones first.
 */
export class DualHandler implements Required<Handler>, Required<LegacyHandler> {
  readonly #to: Sendable
  /** The user's own handler, for what needs no thought. */
  readonly #user: Handler
  readonly #hooks: ConnectionHooks
  /** The newer controller on top of what the older interface has: a function to abort, one to resume. */
  #controller: CallbackController | undefined
  #resume: () => void = () => {}

  constructor(to: Sendable, user: Handler, hooks: ConnectionHooks = {}) {
    this.#to = to
    this.#user = user
    this.#hooks = hooks
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#to.onRequestStart(controller, context)
    if (followsRedirect(context)) controller.abort(redirected())
  }

  onRequestUpgrade(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: Duplex,
  ): void {
    this.#hooks.onUpgrade?.(socket)
    this.#hooks.onDone?.()
    this.#to.onRequestUpgrade(controller, status, headers, socket)
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    statusText?: string,
  ): void {
    this.#to.onResponseStart(controller, status, headers, statusText)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#to.onResponseData(controller, chunk)
  }

  onResponseEnd(controller: Controller, trailers: ResponseHeaders): void {
    this.#hooks.onDone?.()
    this.#to.onResponseEnd(controller, trailers)
  }

  onResponseError(controller: Controller | null, error: Error): void {
    this.#hooks.onDone?.()
    const why = isUnprocessed(error) ? new NoResponseError('unprocessed', error) : error
    this.#to.onResponseError(controller, why)
  }

  onBodySent(chunk: unknown): void {
    this.#user.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#user.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#user.onResponseStarted?.()
  }

  onConnect(abort: (reason?: Error) => void, context?: unknown): void {
    this.#controller = this.#control(abort)
    this.onRequestStart(this.#controller, context)
  }

  onHeaders(status: number, headers: RawHeaders, resume: () => void, statusText: string): boolean {
    const controller = this.#started()
    controller.rawHeaders = headers
    this.#resume = resume
    this.#to.onResponseStart(controller, status, parseRaw(headers), statusText)
    return !controller.paused
  }

  onData(chunk: Buffer): boolean {
    const controller = this.#started()
    this.#to.onResponseData(controller, chunk)
    return !controller.paused
  }

  onComplete(trailers: RawHeaders | null): void {
    const controller = this.#started()
    controller.rawTrailers = trailers
    this.onResponseEnd(controller, parseRaw(trailers ?? []))
  }

  onError(error: Error): void {
    this.onResponseError(this.#controller ?? null, error)
  }

  onUpgrade(status: number, headers: RawHeaders | null, socket: Duplex): void {
    const controller = this.#started()
    controller.rawHeaders = headers
    this.onRequestUpgrade(controller, status, parseRaw(headers ?? []), socket)
  }

  #started(): CallbackController {
    this.#controller ??= this.#control(() => {})
    return this.#controller
  }

  #control(abort: (reason?: Error) => void): CallbackController {
    return new CallbackController({
      onAbort: abort,
      // To pause is to answer `false`, which the callbacks above do.
      onPause() {},
      onResume: () => this.#resume(),
    })
  }
}

function parseRaw(raw: RawHeaders): ResponseHeaders {
  const headers: ResponseHeaders = {}
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase()
    const given = [raw[index + 1] ?? []].flat() as (string | Buffer)[]
    const values = given.map((value) =>
      typeof value === 'string' ? value : value.toString('latin1'),
    )
    const before = headers[name]
    const all = before === undefined ? values : [before, values].flat()
    const [only] = all
    headers[name] = all.length === 1 ? only : all
  }
  return headers
}

/** undici 8 says so of requests that came after the last one that an HTTP/2 server took from a connection. */
function isUnprocessed(error: Error): boolean {
  return (error as { code?: string }).code === 'UND_ERR_INFO' && error.message.includes('GOAWAY')
}

/** Whether something below us, which has our headers, is on its way to where a redirect led. */
function followsRedirect(context: unknown): boolean {
  const { history } = (context ?? {}) as { history?: unknown }
  return Array.isArray(history) && history.length > 0
}

function redirected(): ForeignOriginError {
  return new ForeignOriginError('a redirect was about to be followed with our headers on it', {
    hint: "Compose kubecred's interceptor first and redirect() after it: agent.compose(createInterceptor(cluster), redirect()).",
  })
}
