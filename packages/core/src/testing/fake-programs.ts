import type { Located, Programs, RunOutcome, RunRequest } from '../ports/programs.ts'

type Script = (request: RunRequest) => Partial<RunOutcome> | Promise<Partial<RunOutcome>>

/** Programs that are not there: every command is found, and a script says how a run ends. */
export class FakePrograms implements Programs {
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
    const nothing = {
      ended: 'exited',
      status: 0,
      stdout: new Uint8Array(),
      tookMs: 0,
      stderrTail: '',
    }
    return { ...nothing, ...outcome } as RunOutcome
  }
}
