import type { CredentialError } from '../errors/index.ts'
import { type BackOffLimits, backOff } from '../lifecycle/back-off.ts'

interface Failure {
  readonly error: unknown
  readonly until: number
}

/**
 * Remembers that a signature failed, so that one wrong PIN is not tried again and again: a token locks itself
 * after a few.
 *
 * Those who stood in line when it failed fail with it, and so does everybody until a pause is over, which doubles
 * each time.
 */
export class FailurePause {
  readonly #limits: BackOffLimits
  readonly #now: () => number
  readonly #jitter: () => number
  #last: Failure | undefined
  /** Failures since the last signature. */
  #inARow = 0
  /** Failures at all: who came before the last one stood in line for it. */
  #count = 0

  constructor(limits: BackOffLimits, now: () => number, jitter: () => number) {
    this.#limits = limits
    this.#now = now
    this.#jitter = jitter
  }

  /** Taken when somebody gets in line. */
  get ticket(): number {
    return this.#count
  }

  /** @throws The last failure, if it counts for whoever came with this ticket. */
  check(ticket: number): void {
    if (this.#last === undefined) return
    if (ticket < this.#count || this.#now() < this.#last.until) throw this.#last.error
  }

  succeeded(): void {
    this.#last = undefined
    this.#inARow = 0
  }

  failed(error: CredentialError): void {
    this.#count += 1
    this.#inARow += 1
    const until = this.#now() + backOff(this.#inARow, this.#limits, this.#jitter())
    this.#last = { error, until }
    error.nextTryAt = until
  }
}
