import type { Writable } from 'node:stream'
import type { Environment } from 'kubecred/internal'
import type { FlagName } from './flags/flag-table.ts'
import type { FlagValues } from './flags/flag-values.ts'
import type { EndingSignal } from './interruption.ts'
import type { EventLog } from './render/event-log.ts'
import type { Progress } from './render/progress.ts'
import type { StderrWriter } from './render/stderr-writer.ts'

/** Everything a command may touch. Nothing in this package reads `process` but `main.ts`. */
export interface Io {
  /** For data. */
  readonly stdout: Writable
  /** For messages. */
  readonly stderr: Pick<Writable, 'write'>
  readonly env: Environment
  /** Aborted with an `Interruption` when the command should end. */
  readonly signal: AbortSignal
  /** Passes signals to the listener instead of ending the command. Returns the function that restores the default. */
  readonly takeSignals: (listener: (signal: EndingSignal) => void) => () => void
  /** Which of the outputs are terminals. */
  readonly isTerminal: { readonly stdout: boolean; readonly stderr: boolean }
  /** Width of the terminal on standard output; undefined if it is not a terminal. */
  readonly columns?: number | undefined
  /** Width of the terminal on standard error. */
  readonly errorColumns?: number | undefined
  /** The version of Node, such as `v20.20.2`. */
  readonly nodeVersion: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Reads standard input to its end, or until the signal aborts. */
  readonly readStdin: (signal: AbortSignal) => Promise<Uint8Array>
}

/** One invocation of a command: its arguments and its outputs. */
export interface Call {
  readonly args: readonly string[]
  readonly flags: FlagValues
  readonly io: Io
  /** Aborted by `--timeout`, a signal or a closed output. */
  readonly signal: AbortSignal
  /** The only way to write to `stderr`. */
  readonly stderr: StderrWriter
  readonly log: EventLog
  /** Shows what is being waited for. Must be ended before anything is written to `stdout`. */
  readonly progress: Progress
}

/** Runs a command and resolves to the exit status. Rejects only with errors that `program.ts` explains. */
export type Run = (call: Call) => Promise<number>

/** The description of a command, available without loading it. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The operands after the name, such as `PATH`. */
  readonly operands: string
  /** Minimum and maximum number of operands. */
  readonly arity: readonly [number, number]
  /** Set if the operands are another command line: from the first operand on, flags belong to that command. */
  readonly isForeign?: true
  /** Flags besides the global ones. */
  readonly flags: readonly FlagName[]
  /** The global flags that its help lists, for a command that uses only a few of them. */
  readonly globals?: readonly FlagName[]
  /** Set if it runs no plugin and changes nothing. Only such a command works when started as a credential plugin. */
  readonly isHarmless?: true
  /** Paragraphs for `--help`. */
  readonly about: readonly string[]
  readonly examples: readonly string[]
  readonly load: () => Promise<Run>
}
