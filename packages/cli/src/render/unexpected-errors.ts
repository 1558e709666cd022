import type { CredentialEvent } from 'kubecred'
import type { UnexpectedError } from 'kubecred/errors'
import { printable } from './printable.ts'
import type { StderrWriter } from './stderr-writer.ts'

/** The same error is written once in this interval. */
const INTERVAL_MS = 60_000
/** Number of different errors written in that interval. */
const MAX_WRITTEN = 5
/** Number of different errors that are counted. */
const MAX_KNOWN = 100

/** The state of one error. */
interface Known {
  writtenAt: number
  /** How often it happened since it was written. */
  repeats: number
}

/**
 * Writes internal errors with their stacks to standard error, also without `-v`.
 *
 * An error may occur with every request: the same one is written once a minute with a count, and at most five different
 * ones a minute.
 */
export class UnexpectedErrors {
  readonly #stderr: StderrWriter
  readonly #now: () => number
  readonly #known = new Map<string, Known>()
  #hidden = 0

  constructor(stderr: StderrWriter, now: () => number) {
    this.#stderr = stderr
    this.#now = now
  }

  readonly observe = (event: CredentialEvent): void => {
    if (event.type === 'unexpected-error') this.report(event)
  }

  readonly report = ({ id, stack }: UnexpectedError): void => {
    const now = this.#now()
    const known = this.#known.get(id)
    if (known !== undefined && now - known.writtenAt < INTERVAL_MS) {
      known.repeats += 1
      return
    }
    const isRecent = ({ writtenAt }: Known): boolean => now - writtenAt < INTERVAL_MS
    if ([...this.#known.values()].filter(isRecent).length >= MAX_WRITTEN) {
      this.#hidden += 1
      return
    }
    this.#writeHidden()
    this.#write(id, known?.repeats ?? 0)
    for (const line of printable(stack).split('\n')) this.#stderr.line(`  ${line}`)
    this.#remember(id, now)
  }

  /** Writes the counts that have not been written yet. */
  end(): void {
    for (const [id, { repeats }] of this.#known) {
      if (repeats > 0) this.#write(id, repeats)
    }
    this.#writeHidden()
    this.#known.clear()
  }

  #write(id: string, repeats: number): void {
    const again = repeats === 0 ? '' : `, ${times(repeats)} since it was last written`
    this.#stderr.line(`${this.#stderr.palette.red('kubecred:')} internal error ${id}${again}`)
  }

  #writeHidden(): void {
    if (this.#hidden === 0) return
    this.#stderr.line(`kubecred: internal errors not written: ${this.#hidden}`)
    this.#hidden = 0
  }

  #remember(id: string, writtenAt: number): void {
    this.#known.delete(id)
    this.#known.set(id, { writtenAt, repeats: 0 })
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}

function times(count: number): string {
  return count === 1 ? 'once more' : `${count} times more`
}
