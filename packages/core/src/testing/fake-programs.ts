import type { Located, Programs, RunOutcome, RunRequest } from '../ports/programs.ts'

/** Decides how a run ends. What it leaves out is that of a process that exits with 0 and prints nothing. */
type Script = (request: RunRequest) => Partial<RunOutcome> | Promise<Partial<RunOutcome>>

/**
 * Simulated programs: every command is found, and a function decides how each run ends.
 *
 * @experimental
 *
 * @example
 * const programs = new FakePrograms(() => ({ stdout: new TextEncoder().encode('{}') }))
 */
export class FakePrograms implements Programs {
  /** The runs so far. */
  readonly runs: RunRequest[] = []
  readonly #script: Script

  constructor(script: Script) {
    this.#script = script
  }

  async locate(command: string): Promise<Located> {
    return { is: 'found', path: command, realPath: command }
  }

  async sha256(): Promise<string> {
    return '0'.repeat(64)
  }

  async run(request: RunRequest): Promise<RunOutcome> {
    this.runs.push(request)
    const outcome = await this.#script(request)
    const success = {
      ended: 'exited',
      status: 0,
      stdout: new Uint8Array(),
      tookMs: 0,
      stderrTail: '',
    }
    return { ...success, ...outcome } as RunOutcome
  }
}
