import { fileURLToPath } from 'node:url'
import { RunningProgram } from '../../core/test/fixtures/running-program.ts'

/** The built program; bootstrap builds it before the tests run. */
export const PROGRAM = fileURLToPath(new URL('../bin/kubecred.cjs', import.meta.url))

/** A program in the environment of a user at a terminal. */
export class Running extends RunningProgram {
  constructor(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>> = {},
  ) {
    super(command, args, { env: { ...process.env, NO_COLOR: undefined, TERM: 'xterm', ...env } })
  }

  /** The exit status, once all output has been read. */
  async end(): Promise<number | null> {
    return (await this.ended()).status
  }
}

/** Starts the built program. */
export function spawnProgram(...args: string[]): Running {
  return new Running(process.execPath, [PROGRAM, ...args])
}
