import type { CredentialEvent, SourceLabel } from 'kubecred'
import { cut } from './columns.ts'
import { isProgram, shortName } from './describe-event.ts'
import { describeSource } from './describe-source.ts'
import { printableLine } from './printable.ts'
import type { Words } from './stderr-writer.ts'

const FIRST_MS = 1000
const THEN_MS = 1000
/** For a line that stays: it is written later, and once. */
const LINE_MS = 5000

/** Something that takes its time. */
interface Wait {
  readonly what: string
  readonly since: number
}

export interface PatienceOptions {
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean
  /** Whether a line can be rewritten there. */
  readonly canRewrite: boolean
  /** Width of that terminal. */
  readonly columns: number
}

/**
 * Tells somebody who waits for longer than a second what for, and since when.
 *
 * On a terminal only, in one line that is rewritten in place and taken away at the end. Where it cannot be rewritten,
 * or another program writes there too, in a line that stays, after 5 seconds. While a program has the
 * terminal, or a signer wants the person to do something, there is none: it would stand in the middle of a question.
 */
export class Patience {
  readonly #words: Words
  readonly #options: PatienceOptions
  /** What the command waits for by itself. */
  #own: Wait | undefined
  /** What the credential waits for; the newest is told. */
  readonly #runs = new Map<SourceLabel, Wait>()
  /** Programs that have the terminal. */
  readonly #atTerminal = new Set<SourceLabel>()
  /** Signers that have asked the person to do something. */
  readonly #prompting = new Set<SourceLabel>()
  /** What has been told in a line that stays. */
  readonly #told = new WeakSet<Wait>()
  #rewrites: boolean
  #timer: NodeJS.Timeout | undefined

  constructor(words: Words, options: PatienceOptions) {
    this.#words = words
    this.#options = options
    this.#rewrites = options.canRewrite
  }

  /** @param since On the clock of `performance`; now unless told. */
  begin(what: string, since?: number): void {
    this.#own = startOf(what, since)
    this.#look()
  }

  /** Nothing is waited for any more; also what the credential waited for is over. */
  end(): void {
    this.#own = undefined
    this.#runs.clear()
    this.#look()
  }

  /** From now on another program writes to the terminal: what is told stays there. */
  shareTerminal(): void {
    this.#rewrites = false
    this.#look()
  }

  /** Follows what happens to the credential. */
  readonly observe = (event: CredentialEvent): void => {
    const { source } = event
    switch (event.type) {
      case 'run-started':
        // Ahead of time it runs in the background, and nobody waits.
        if (!event.ahead) this.#runs.set(source, startOf(firstWait(source)))
        break
      case 'plugin-started':
        if (this.#runs.has(source)) this.#runs.set(source, startOf(shortName(source)))
        if (event.isInteractive) this.#atTerminal.add(source)
        break
      case 'run-succeeded':
      case 'run-failed':
        this.#runs.delete(source)
        // What the command waits for begins only now.
        this.#own = this.#own && startOf(this.#own.what)
        break
      case 'plugin-ended':
        this.#atTerminal.delete(source)
        break
      case 'user-prompt':
        this.#prompting.add(source)
        break
      case 'prompt-ended':
        this.#prompting.delete(source)
        break
      default:
        return
    }
    this.#look()
  }

  /** Begins anew: what is shown is over, or what is next has not taken a second yet. */
  #look(): void {
    clearTimeout(this.#timer)
    this.#words.clearNote()
    const wait = [...this.#runs.values()].at(-1) ?? this.#own
    const isAsking = this.#atTerminal.size + this.#prompting.size > 0
    if (wait === undefined || isAsking || !this.#options.isTerminal) return
    if (this.#told.has(wait)) return
    const firstMs = this.#rewrites ? FIRST_MS : LINE_MS
    this.#timer = setTimeout(() => this.#tell(wait), firstMs - (performance.now() - wait.since))
    this.#timer.unref()
  }

  #tell(wait: Wait): void {
    const seconds = Math.round((performance.now() - wait.since) / 1000)
    const end = `, for ${seconds} s now`
    const room = this.#options.columns - '… waiting for '.length - end.length - 1
    const what = cut(wait.what, room)
    if (!this.#rewrites) {
      this.#told.add(wait)
      this.#words.line(`kubecred: waiting for ${what}${end}`)
      return
    }
    this.#words.note(this.#words.palette.dim(`… waiting for ${what}${end}`))
    this.#timer = setTimeout(() => this.#tell(wait), THEN_MS)
    this.#timer.unref()
  }
}

/** A program has to wait for a place first, when many run. */
function firstWait(source: SourceLabel): string {
  return isProgram(source) ? `a place to run ${shortName(source)}` : describeSource(source)
}

function startOf(what: string, since = performance.now()): Wait {
  return { what: printableLine(what), since }
}
