import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import type { Environment } from 'kubecred/internal'
import type { Call } from '../command.ts'
import { endLike } from './exit-by-signal.ts'
import { followChild } from './follow-child.ts'

/** Where the user's NODE_OPTIONS wait for the command. */
const KEPT = 'KUBECRED_KEPT_NODE_OPTIONS'

/**
 * Starts this program again without NODE_OPTIONS, where they are set, and ends as it does.
 *
 * They can open a debugger, load code, or write down the keys of TLS connections. They are the user's, so the
 * command and plugins get them: {@link userEnvironment}.
 *
 * @returns The exit status; undefined when there is nothing to leave out, and work goes on here.
 */
export async function withoutNodeOptions({ io }: Call): Promise<number | undefined> {
  const { NODE_OPTIONS: options, ...env } = io.env
  if (!options) return undefined
  const start = (): ChildProcess =>
    spawn(process.execPath, process.argv.slice(1), {
      stdio: 'inherit',
      env: { ...env, [KEPT]: options },
    })
  const ending = await followChild(start, io)
  if ('error' in ending) throw ending.error
  return 'signal' in ending ? endLike(ending.signal) : ending.status
}

/** The environment as the user has it. */
export function userEnvironment(env: Environment): Environment {
  const { [KEPT]: kept, ...rest } = env
  return kept === undefined ? rest : { ...rest, NODE_OPTIONS: kept }
}
