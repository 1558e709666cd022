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

/** Called with events that concern the connection. */
interface ConnectionHooks {
  /** Called when the connection is free again, or was upgraded. */
  onDone?(): void
  onUpgrade?(socket: Duplex): void
}

/**
 * Passes the events of the user's undici to a call, for all versions: undici 6 calls the older methods, 8 the newer ones,
 * and 7 prefers the newer ones.
 */
export class CrossVersionHandler implements Required<Handler>, Required<LegacyHandler> {
  readonly #call: Sendable
  /** The user's own handler, for events that are only passed on. */
  readonly #user: Handler
  readonly #hooks: ConnectionHooks
  /** The newer controller, made from the two functions of the older interface: abort and resume. */
  #controller: CallbackController | undefined
  #resume: () => void = () => {}

  constructor(call: Sendable, user: Handler, hooks: ConnectionHooks = {}) {
    this.#call = call
    this.#user = user
    this.#hooks = hooks
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#call.onRequestStart(controller, context)
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
    this.#call.onRequestUpgrade(controller, status, headers, socket)
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    statusText?: string,
  ): void {
    this.#call.onResponseStart(controller, status, headers, statusText)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#call.onResponseData(controller, chunk)
  }

  onResponseEnd(controller: Controller, trailers: ResponseHeaders): void {
    this.#hooks.onDone?.()
    this.#call.onResponseEnd(controller, trailers)
  }

  onResponseError(controller: Controller | null, error: Error): void {
    this.#hooks.onDone?.()
    const why = isUnprocessed(error) ? new NoResponseError('unprocessed', error) : error
    this.#call.onResponseError(controller, why)
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
    this.#call.onResponseStart(controller, status, parseRaw(headers), statusText)
    return !controller.paused
  }

  onData(chunk: Buffer): boolean {
    const controller = this.#started()
    this.#call.onResponseData(controller, chunk)
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
      // The methods above pause by returning false.
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

/** Whether undici 8 reports that an HTTP/2 server did not process the request before it sent GOAWAY. */
function isUnprocessed(error: Error): boolean {
  return (error as { code?: string }).code === 'UND_ERR_INFO' && error.message.includes('GOAWAY')
}

/** Whether an interceptor below this one is following a redirect, with our headers on the request. */
function followsRedirect(context: unknown): boolean {
  const { history } = (context ?? {}) as { history?: unknown }
  return Array.isArray(history) && history.length > 0
}

function redirected(): ForeignOriginError {
  return new ForeignOriginError('a redirect would be followed with the credential of the cluster', {
    hint: "Compose kubecred's interceptor first and redirect() after it: agent.compose(createInterceptor(cluster), redirect()).",
  })
}
