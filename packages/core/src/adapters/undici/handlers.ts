import type { Duplex } from 'node:stream'
import type { Controller, Handler, RawHeaders, ResponseHeaders } from '../../exchange/handler.ts'

/** The handler of a request as undici 6 wants it; 7 takes it too. False from `onHeaders` or `onData` means: pause. */
export interface LegacyHandler {
  onConnect?(abort: (reason?: Error) => void, context?: unknown): void
  onUpgrade?(status: number, headers: RawHeaders | null, socket: Duplex): void
  onHeaders?(status: number, headers: RawHeaders, resume: () => void, statusText: string): unknown
  onData?(chunk: Buffer): unknown
  onComplete?(trailers: RawHeaders | null): void
  onError?(error: Error): void
  onBodySent?(chunk: unknown): void
  onRequestSent?(): void
  onResponseStarted?(): void
}

/** The caller's handler in the newer form, whichever it has. */
export function asHandler(given: Handler | LegacyHandler): Handler {
  return 'onRequestStart' in given && typeof given.onRequestStart === 'function'
    ? given
    : new Modernised(given as LegacyHandler)
}

/** Calls a handler of the older form. */
class Modernised implements Handler {
  readonly #handler: LegacyHandler

  constructor(handler: LegacyHandler) {
    this.#handler = handler
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#handler.onConnect?.((reason) => controller.abort(reason), context)
  }

  onRequestUpgrade(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    socket: Duplex,
  ): void {
    this.#handler.onUpgrade?.(status, rawFrom(controller.rawHeaders, headers), socket)
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: ResponseHeaders,
    statusText = '',
  ): void {
    const raw = rawFrom(controller.rawHeaders, headers)
    const resume = (): void => controller.resume()
    if (this.#handler.onHeaders?.(status, raw, resume, statusText) === false) controller.pause()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#handler.onData?.(chunk) === false) controller.pause()
  }

  onResponseEnd(controller: Controller, trailers: ResponseHeaders): void {
    this.#handler.onComplete?.(rawFrom(controller.rawTrailers, trailers))
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (this.#handler.onError === undefined) throw error
    this.#handler.onError(error)
  }

  onBodySent(chunk: unknown): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }
}

/** Headers as name, value, name, value; made from an object where the exchange gave none. */
export function rawFrom(
  raw: RawHeaders | ResponseHeaders | null | undefined,
  headers: ResponseHeaders,
): RawHeaders {
  if (Array.isArray(raw)) return raw as RawHeaders
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((each) => [Buffer.from(name), Buffer.from(each, 'latin1')]),
  )
}
