import type { Controller, Headers, RawHeaders } from './handlers.ts'

export interface Steering {
  onAbort(reason: Error | undefined): void
  onPause(): void
  onResume(): void
}

/** What a handler steers a request with; what it does with it is decided elsewhere. */
export class SteeredController implements Controller {
  rawHeaders: RawHeaders | Headers | null = null
  rawTrailers: RawHeaders | Headers | null = null
  readonly #steering: Steering
  #aborted = false
  #paused = false
  #reason: Error | null = null

  constructor(steering: Steering) {
    this.#steering = steering
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
    this.#steering.onAbort(reason)
  }

  pause(): void {
    this.#paused = true
    this.#steering.onPause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#steering.onResume()
  }
}
