import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import { type Environment, withSystemNames } from 'kubecred/internal'
import type { Call } from '../command.ts'
import { ownCommand } from '../executable/own-program.ts'
import { exitBySignal } from './exit-by-signal.ts'
import { followChild } from './follow-child.ts'

/** Holds the user's NODE_OPTIONS for the command. */
const SAVED = 'KUBECRED_KEPT_NODE_OPTIONS'

/**
 * Restarts this program without NODE_OPTIONS if they are set, and returns its exit status.
 *
 * They can open a debugger, load code, or log the keys of TLS connections. The command and plugins still get them:
 * {@link userEnvironment}.
 *
 * @returns The exit status; undefined if NODE_OPTIONS is not set and this process can continue.
 */
export async function withoutNodeOptions({ io }: Call): Promise<number | undefined> {
  const { NODE_OPTIONS: options, ...env } = io.env
  if (!options) return undefined
  const [command = '', ...args] = [...ownCommand(), ...process.argv.slice(2)]
  const start = (): ChildProcess =>
    spawn(command, args, {
      stdio: 'inherit',
      env: { ...env, [SAVED]: options },
    })
  const ending = await followChild(start, io)
  if ('error' in ending) throw ending.error
  return 'signal' in ending ? exitBySignal(ending.signal) : ending.status
}

/** Returns the environment of the user, with the original NODE_OPTIONS. */
export function userEnvironment(env: Environment): Environment {
  const { [SAVED]: saved, ...rest } = withSystemNames(env)
  return saved === undefined ? rest : { ...rest, NODE_OPTIONS: saved }
}
