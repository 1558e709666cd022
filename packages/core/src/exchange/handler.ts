import type { Duplex } from 'node:stream'

/** Headers of a response, names in lower case. */
export type ResponseHeaders = Record<string, string | string[] | undefined>

/** Headers as they came: name, value, name, value. undici's interceptors also put lists in the place of a value. */
export type RawHeaders = readonly (string | Buffer | readonly (string | Buffer)[])[]

/** Controls a request that was sent; the same as undici's `DispatchController`. */
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

/** Receives what becomes of a request; undici's own interface since version 7, which all exchanges call. */
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
