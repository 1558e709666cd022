import type { CredentialEvent } from 'kubecred'
import { describeEvent } from './describe-event.ts'
import { printableLine } from './printable.ts'
import type { StderrWriter } from './stderr-writer.ts'
import { withFlagNames } from './with-flag-names.ts'

/** A summary of the events, for explaining the result. */
export interface EventSummary {
  readonly refusals: number
  /** The result of the run that a refusal caused. */
  readonly refresh: 'none' | 'new' | 'same' | 'failed'
  readonly isRetried: boolean
  /** Whether standard error of a plugin has been shown already. */
  readonly hasPassedStderr: boolean
}

/**
 * Writes events to standard error: warnings, prompts and the standard error of plugins always, other events with `-v`.
 *
 * Events contain no secrets.
 */
export class EventLog {
  readonly level: number
  readonly #stderr: StderrWriter
  readonly #now: () => number
  readonly #startedAt: number
  #facts: EventSummary = { refusals: 0, refresh: 'none', isRetried: false, hasPassedStderr: false }

  constructor(stderr: StderrWriter, level: number, now: () => number) {
    this.level = level
    this.#stderr = stderr
    this.#now = now
    this.#startedAt = now()
  }

  get facts(): EventSummary {
    return this.#facts
  }

  /** Writes a line with the time since the start, if the verbosity is at least `level`. */
  tell(text: string, level = 1): void {
    if (this.level < level) return
    const elapsed = `+${((this.#now() - this.#startedAt) / 1000).toFixed(3)}s`
    const { palette } = this.#stderr
    this.#stderr.line(`  ${palette.dim(elapsed.padEnd(7))}  ${text}`)
  }

  readonly observe = (event: CredentialEvent): void => {
    this.#remember(event)
    if (event.type === 'plugin-stderr') this.#stderr.pass(event.text)
    if (event.type === 'warning') this.#stderr.warn(withFlagNames(event.message))
    if (event.type === 'user-prompt') this.#stderr.line(printableLine(event.text))
    const text = describeEvent(event, { level: this.level, now: this.#now() })
    if (text !== undefined) this.tell(text)
  }

  #remember(event: CredentialEvent): void {
    const facts = this.#facts
    if (event.type === 'plugin-stderr') this.#facts = { ...facts, hasPassedStderr: true }
    if (event.type === 'refused') this.#facts = { ...facts, refusals: facts.refusals + 1 }
    if (event.type === 'retried') this.#facts = { ...facts, isRetried: true }
    if (event.type === 'run-succeeded' && event.reason === 'refused') {
      this.#facts = { ...facts, refresh: event.isSame ? 'same' : 'new' }
    }
    if (event.type === 'run-failed' && event.reason === 'refused') {
      this.#facts = { ...facts, refresh: 'failed' }
    }
  }
}
