import type { Secret } from '../secret/secret.ts'

/** What was found for a command. */
export type Located =
  | {
      readonly is: 'found'
      readonly path: string
      readonly realPath: string
      /** A sentence when others than its owner could replace the file. */
      readonly writableByOthers?: string
    }
  | { readonly is: 'missing'; readonly lookedIn: readonly string[] }
  /** It is there, but cannot be run; `reason` is in words. */
  | { readonly is: 'unusable'; readonly path: string; readonly reason: string }

export interface RunRequest {
  /** Becomes argv[0]. */
  readonly command: string
  /** The file that was checked. */
  readonly path: string
  readonly args: readonly Secret[]
  readonly env: Readonly<Record<string, string>>
  /** The folder it starts in; ours when undefined. */
  readonly cwd?: string
  /** Whether standard input and error are the terminal itself. */
  readonly interactive: boolean
  readonly timeoutMs: number
  readonly stdoutLimit: number
  /** Called when there is a place for it, just before it starts. */
  readonly onStart?: () => void
  /** Receives standard error as it comes, where it is not the terminal. */
  readonly onStderr?: (text: string) => void
  readonly signal: AbortSignal
}

interface Ran {
  readonly tookMs: number
  /** The last part of standard error, as printed. Scrub it before showing. */
  readonly stderrTail: string
}

/** A run that did not end by itself, or never began. */
export type RunFailure =
  | ({ readonly ended: 'killed'; readonly signal: string } & Ran)
  | ({ readonly ended: 'timed-out' } & Ran)
  | ({ readonly ended: 'output-too-large' } & Ran)
  | ({ readonly ended: 'aborted' } & Ran)
  /** The operating system would not start it; `errno` is Node's code. */
  | ({ readonly ended: 'not-started'; readonly errno: string; readonly reason: string } & Ran)

/** How a run ended. */
export type RunOutcome =
  | ({ readonly ended: 'exited'; readonly status: number; readonly stdout: Uint8Array } & Ran)
  | RunFailure

/** Finds and runs programs. */
export interface Programs {
  locate(command: string): Promise<Located>
  /** Hex digest of a file. */
  sha256(path: string): Promise<string>
  run(request: RunRequest): Promise<RunOutcome>
}
