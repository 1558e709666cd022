import type { Writable } from 'node:stream'
import type { Environment } from 'kubecred/internal'
import type { FlagName } from './flags/flag-table.ts'
import type { FlagValues } from './flags/flag-values.ts'
import type { EndingSignal } from './interruption.ts'
import type { Story } from './render/event-log.ts'
import type { Patience } from './render/progress.ts'
import type { Words } from './render/stderr-writer.ts'

/** Everything a command may touch. Nothing in this package reads `process` but `main.ts`. */
export interface Io {
  /** Data for programs. */
  readonly stdout: Writable
  /** Words for people. */
  readonly stderr: Pick<Writable, 'write'>
  readonly env: Environment
  /** Aborted with an `Interruption` when the command should end. */
  readonly signal: AbortSignal
  /** Gives signals to somebody else from now on, in place of ending the command. Returns how to give them back. */
  readonly takeSignals: (listener: (signal: EndingSignal) => void) => () => void
  /** Which of the outputs a person reads. */
  readonly isTerminal: { readonly stdout: boolean; readonly stderr: boolean }
  /** Width of the terminal that is standard output; undefined where there is none. */
  readonly columns?: number | undefined
  /** Width of the terminal that is standard error. */
  readonly errorColumns?: number | undefined
  /** The version of Node, such as `v20.20.2`. */
  readonly nodeVersion: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Reads standard input to its end, or until the signal says stop. */
  readonly readStdin: (signal: AbortSignal) => Promise<Uint8Array>
}

/** One use of a command: what was typed, and where the answer goes. */
export interface Call {
  readonly args: readonly string[]
  readonly flags: FlagValues
  readonly io: Io
  /** Ends with the command: by `--timeout`, a signal or a closed output. */
  readonly signal: AbortSignal
  /** The only way to write to `stderr`. */
  readonly words: Words
  readonly story: Story
  /** Says what is being waited for. Ended before anything is written to `stdout`. */
  readonly patience: Patience
}

/** Resolves to the exit status. Throws only what `program.ts` should explain. */
export type Run = (call: Call) => Promise<number>

/** What is known about a command without loading it. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What stands behind the name, such as `PATH`. */
  readonly operands: string
  /** Fewest and most operands. */
  readonly arity: readonly [number, number]
  /** Set where the operands are a command of somebody else: from the first on, nothing is a flag of ours. */
  readonly isForeign?: true
  /** Flags beside those that all commands take. */
  readonly flags: readonly FlagName[]
  /** Set where it runs no plugin and changes nothing. Only such a command works if we are a credential plugin ourselves. */
  readonly isHarmless?: true
  /** Whether it talks to a cluster: then its help shows the flags that choose one. */
  readonly connects: boolean
  /** Paragraphs for `--help`. */
  readonly about: readonly string[]
  readonly examples: readonly string[]
  readonly load: () => Promise<Run>
}
