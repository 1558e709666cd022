import type { RunOutcome } from '../ports/programs.ts'
import type { Answer, DepositedOutcome, GetRequest } from './wire.ts'

/** Somebody who waits for a credential. */
export class Asker {
  readonly request: GetRequest
  readonly #send: (answer: Answer) => void
  readonly #left = new AbortController()
  #onDeposit: ((outcome: RunOutcome) => void) | undefined

  constructor(request: GetRequest, send: (answer: Answer) => void) {
    this.request = request
    this.#send = send
  }

  /** Aborted when they leave before they have an answer. */
  get left(): AbortSignal {
    return this.#left.signal
  }

  tell(text: string): void {
    this.#send({ is: 'stderr', text })
  }

  leave(): void {
    this.#left.abort()
  }

  /** How the run ended that they were told to make. What nobody asked for is dropped. */
  deposit(outcome: DepositedOutcome): void {
    this.#onDeposit?.(
      outcome.ended === 'exited'
        ? { ...outcome, stdout: Buffer.from(outcome.stdout, 'base64') }
        : outcome,
    )
  }

  /** Lets them run the plugin at their terminal; undefined when they leave or are told to stop waiting. */
  run(signal: AbortSignal): Promise<RunOutcome | undefined> {
    return new Promise((resolve) => {
      const end = (outcome?: RunOutcome): void => {
        this.#left.signal.removeEventListener('abort', stop)
        signal.removeEventListener('abort', stop)
        this.#onDeposit = undefined
        resolve(outcome)
      }
      const stop = (): void => end()
      if (this.#left.signal.aborted || signal.aborted) {
        resolve(undefined)
        return
      }
      this.#left.signal.addEventListener('abort', stop)
      signal.addEventListener('abort', stop)
      this.#onDeposit = end
      this.#send({ is: 'run' })
    })
  }
}
