import type { Readable } from 'node:stream'
import type { Incoming } from '../../transport/exchange.ts'
import { asHandler, type Controller, type Handler, type LegacyHandler } from '../undici/handlers.ts'

/** Tells a dispatcher's handler what becomes of its request, and lets it steer. */
export class DispatchedResponse implements Controller {
  readonly #handler: Handler
  readonly #gone = new AbortController()
  #body: Readable | undefined
  #isPaused = false
  #isOver = false
  /** fetch reads the headers here, not where it is handed them. */
  rawHeaders: Buffer[] = []

  constructor(handler: Handler | LegacyHandler) {
    this.#handler = asHandler(handler)
    this.#handler.onRequestStart(this, {})
  }

  /** Aborted when nobody waits for the response any more. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  get aborted(): boolean {
    return this.signal.aborted
  }

  get reason(): Error | null {
    return this.aborted ? (this.signal.reason as Error) : null
  }

  get paused(): boolean {
    return this.#isPaused
  }

  abort(reason: Error = new Error('aborted')): void {
    if (this.#isOver || this.aborted) return
    this.#gone.abort(reason)
    this.#body?.destroy()
    this.fail(reason)
  }

  pause(): void {
    this.#isPaused = true
    this.#body?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#body?.resume()
  }

  /** Passes the response on, as fast as it is taken. Resolves when it is over. */
  pass({ statusCode, statusText, headers, body }: Incoming): Promise<void> {
    this.#body = body
    this.rawHeaders = rawHeaders(headers)
    const over = new Promise<void>((resolve) => {
      body.once('end', () => this.#end())
      body.once('error', (error) => this.fail(error))
      body.once('close', () => {
        this.fail(new Error('the connection ended before the response did'))
        resolve()
      })
    })
    this.#tell(() => this.#handler.onResponseStart?.(this, statusCode, headers, statusText))
    body.on('data', (chunk: Buffer) =>
      this.#tell(() => this.#handler.onResponseData?.(this, chunk)),
    )
    if (this.aborted) body.destroy()
    else if (this.#isPaused) body.pause()
    return over
  }

  /** Says that there is no response, or not all of it. */
  fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handler.onResponseError?.(this, error)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#handler.onResponseEnd?.(this, {})
  }

  /** Nothing is told after the end. What a handler throws is an abort, as in undici. */
  #tell(what: () => void): void {
    if (this.#isOver) return
    try {
      what()
    } catch (error) {
      this.abort(error as Error)
    }
  }
}

function rawHeaders(headers: Incoming['headers']): Buffer[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [Buffer.from(name), Buffer.from(one, 'latin1')]),
  )
}
