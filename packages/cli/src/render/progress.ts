import type { CredentialEvent, SourceLabel } from 'kubecred'
import { cut } from './columns.ts'
import { isProgram, shortName } from './describe-event.ts'
import { describeSource } from './describe-source.ts'
import { printableLine } from './printable.ts'
import type { StderrWriter } from './stderr-writer.ts'

const FIRST_MS = 1000
const THEN_MS = 1000
/** For a line that cannot be removed: it is written later, and once. */
const LINE_MS = 5000

/** Something that is being waited for. */
interface Wait {
  readonly what: string
  readonly since: number
}

/** The properties of the terminal. */
export interface ProgressOptions {
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean
  /** Whether a line can be rewritten in place. */
  readonly canRewrite: boolean
  /** Width of that terminal. */
  readonly columns: number
}

/**
 * Shows what the program is waiting for, and for how long, after one second.
 *
 * Only on a terminal, in one line that is rewritten in place and removed at the end. If it cannot be rewritten, or
 * another program writes to the terminal too, one line that stays is written after 5 seconds. Nothing is shown while a
 * plugin has the terminal or a signer prompts: the line would interrupt the prompt.
 */
export class Progress {
  readonly #stderr: StderrWriter
  readonly #options: ProgressOptions
  /** What the command itself waits for. */
  #own: Wait | undefined
  /** What the credential waits for; the latest is shown. */
  readonly #runs = new Map<SourceLabel, Wait>()
  /** Programs that have the terminal. */
  readonly #atTerminal = new Set<SourceLabel>()
  /** Signers that have prompted the user. */
  readonly #prompting = new Set<SourceLabel>()
  /** What has been written in a line that stays. */
  readonly #written = new WeakSet<Wait>()
  #rewrites: boolean
  #timer: NodeJS.Timeout | undefined

  constructor(stderr: StderrWriter, options: ProgressOptions) {
    this.#stderr = stderr
    this.#options = options
    this.#rewrites = options.canRewrite
  }

  /**
   * Starts waiting for something.
   *
   * @param since Start time on the clock of `performance`; now by default.
   */
  begin(what: string, since?: number): void {
    this.#own = startOf(what, since)
    this.#look()
  }

  /** Stops waiting, also for what the credential waited for. */
  end(): void {
    this.#own = undefined
    this.#runs.clear()
    this.#look()
  }

  /** From now on another program writes to the terminal, so lines are not rewritten. */
  shareTerminal(): void {
    this.#rewrites = false
    this.#look()
  }

  /** Follows the runs of the credential's source. */
  readonly observe = (event: CredentialEvent): void => {
    const { source } = event
    switch (event.type) {
      case 'run-started':
        // A run ahead of expiry is in the background: no request waits for it.
        if (!event.ahead) this.#runs.set(source, startOf(firstWait(source)))
        break
      case 'plugin-started':
        if (this.#runs.has(source)) this.#runs.set(source, startOf(shortName(source)))
        if (event.isInteractive) this.#atTerminal.add(source)
        break
      case 'run-succeeded':
      case 'run-failed':
        this.#runs.delete(source)
        // The command's own wait starts only now.
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

  /** Removes the line and starts the timer for the current wait. */
  #look(): void {
    clearTimeout(this.#timer)
    this.#stderr.clearNote()
    const wait = [...this.#runs.values()].at(-1) ?? this.#own
    const isAsking = this.#atTerminal.size + this.#prompting.size > 0
    if (wait === undefined || isAsking || !this.#options.isTerminal) return
    if (this.#written.has(wait)) return
    const firstMs = this.#rewrites ? FIRST_MS : LINE_MS
    this.#timer = setTimeout(() => this.#show(wait), firstMs - (performance.now() - wait.since))
    this.#timer.unref()
  }

  #show(wait: Wait): void {
    const seconds = Math.round((performance.now() - wait.since) / 1000)
    const end = ` (${seconds} s)`
    const room = this.#options.columns - '… waiting for '.length - end.length - 1
    const what = cut(wait.what, room)
    if (!this.#rewrites) {
      this.#written.add(wait)
      this.#stderr.line(`kubecred: waiting for ${what}${end}`)
      return
    }
    this.#stderr.note(this.#stderr.palette.dim(`… waiting for ${what}${end}`))
    this.#timer = setTimeout(() => this.#show(wait), THEN_MS)
    this.#timer.unref()
  }
}

/** A program may have to wait until fewer programs run. */
function firstWait(source: SourceLabel): string {
  return isProgram(source) ? `a slot to run ${shortName(source)}` : describeSource(source)
}

function startOf(what: string, since = performance.now()): Wait {
  return { what: printableLine(what), since }
}
