import type { Secret } from '../secret/secret.ts'

/** The result of looking up a command. */
export type Located =
  | {
      readonly is: 'found'
      readonly path: string
      readonly realPath: string
      /** A sentence for a warning, set if users other than its owner can replace the file. */
      readonly writableByOthers?: string
    }
  | { readonly is: 'missing'; readonly lookedIn: readonly string[] }
  /** The file exists but cannot be executed; `reason` is for messages. */
  | { readonly is: 'unusable'; readonly path: string; readonly reason: string }

/** A program to run, and the limits of the run. */
export interface RunRequest {
  /** Becomes argv[0]. */
  readonly command: string
  /** The file that `locate()` returned and the policy allowed. */
  readonly path: string
  readonly args: readonly Secret[]
  readonly env: Readonly<Record<string, string>>
  /** The working directory; that of this process by default. */
  readonly cwd?: string
  /** Whether it inherits standard input and standard error, which are the terminal. */
  readonly interactive: boolean
  readonly timeoutMs: number
  readonly stdoutLimit: number
  /** Called just before the process starts, after any wait for the process limit. */
  readonly onStart?: () => void
  /** Receives standard error while the program runs, unless it is inherited. */
  readonly onStderr?: (text: string) => void
  readonly signal: AbortSignal
}

interface Ran {
  readonly tookMs: number
  /** The end of standard error, not scrubbed. */
  readonly stderrTail: string
}

/** A run that did not exit by itself, or did not start. */
export type RunFailure =
  | ({ readonly ended: 'killed'; readonly signal: string } & Ran)
  | ({ readonly ended: 'timed-out' } & Ran)
  | ({ readonly ended: 'output-too-large' } & Ran)
  | ({ readonly ended: 'aborted' } & Ran)
  /** The operating system could not start it; `errno` is Node's error code. */
  | ({ readonly ended: 'not-started'; readonly errno: string; readonly reason: string } & Ran)

/** How a run ended. */
export type RunOutcome =
  | ({ readonly ended: 'exited'; readonly status: number; readonly stdout: Uint8Array } & Ran)
  | RunFailure

/** Finds and runs programs. */
export interface Programs {
  locate(command: string): Promise<Located>
  /** Returns the SHA-256 digest of a file in hexadecimal digits. */
  sha256(path: string): Promise<string>
  run(request: RunRequest): Promise<RunOutcome>
}
