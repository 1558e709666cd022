import type { Duplex } from 'node:stream'
import type { Controller, Handler, Headers, LegacyHandler, RawHeaders } from './handlers.ts'
import { SteeredController } from './steered-controller.ts'

/**
 * A handler that all versions of undici can call: 6 by the older names, 8 by the newer ones, and 7 looks
 * for the newer ones first.
 */
export class BothWays implements Required<Handler>, Required<LegacyHandler> {
  readonly #to: Required<Handler>
  /** The newer controller on top of what the older interface has: a function to abort, one to resume. */
  #controller: SteeredController | undefined
  #resume: () => void = () => {}

  constructor(to: Required<Handler>) {
    this.#to = to
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#to.onRequestStart(controller, context)
  }

  onRequestUpgrade(controller: Controller, status: number, headers: Headers, socket: Duplex): void {
    this.#to.onRequestUpgrade(controller, status, headers, socket)
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Headers,
    statusText?: string,
  ): void {
    this.#to.onResponseStart(controller, status, headers, statusText)
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#to.onResponseData(controller, chunk)
  }

  onResponseEnd(controller: Controller, trailers: Headers): void {
    this.#to.onResponseEnd(controller, trailers)
  }

  onResponseError(controller: Controller | null, error: Error): void {
    this.#to.onResponseError(controller, error)
  }

  onBodySent(chunk: unknown): void {
    this.#to.onBodySent(chunk)
  }

  onRequestSent(): void {
    this.#to.onRequestSent()
  }

  onResponseStarted(): void {
    this.#to.onResponseStarted()
  }

  onConnect(abort: (reason?: Error) => void, context?: unknown): void {
    this.#controller = this.#steer(abort)
    this.#to.onRequestStart(this.#controller, context)
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
    this.#to.onResponseEnd(controller, parseRaw(trailers ?? []))
  }

  onError(error: Error): void {
    this.#to.onResponseError(this.#controller ?? null, error)
  }

  onUpgrade(status: number, headers: RawHeaders | null, socket: Duplex): void {
    const controller = this.#started()
    controller.rawHeaders = headers
    this.#to.onRequestUpgrade(controller, status, parseRaw(headers ?? []), socket)
  }

  #started(): SteeredController {
    this.#controller ??= this.#steer(() => {})
    return this.#controller
  }

  #steer(abort: (reason?: Error) => void): SteeredController {
    return new SteeredController({
      onAbort: abort,
      // To pause is to answer `false`, which the callbacks above do.
      onPause() {},
      onResume: () => this.#resume(),
    })
  }
}

function parseRaw(raw: RawHeaders): Headers {
  const headers: Headers = {}
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
