import type { Controller, RawHeaders, ResponseHeaders } from './handler.ts'

export interface ControllerCallbacks {
  onAbort(reason: Error | undefined): void
  onPause(): void
  onResume(): void
}

/** A controller that hands on what its handler asks for. */
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
