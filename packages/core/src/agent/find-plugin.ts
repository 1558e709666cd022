import { findExecutable } from '../node/find-executable.ts'
import type { Located, Programs } from '../ports/programs.ts'
import { ALLOW_ALL } from '../protocol/plugin-policy.ts'
import { locateProgram } from '../sources/locate-program.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** A plugin on this machine. */
export type FoundPlugin = Extract<Located, { is: 'found' }>

/**
 * Finds the file for a command where no policy has to be asked. Loads no more than that needs.
 *
 * @throws {PluginNotFoundError | PluginNotExecutableError}
 */
export function findPlugin(command: string, env: Environment): Promise<FoundPlugin> {
  const programs: Programs = {
    locate: (name) => findExecutable(name, { path: env['PATH'], pathExt: env['PATHEXT'] }),
    sha256: () => Promise.reject(new Error('only a policy asks for digests')),
    run: () => Promise.reject(new Error('nothing runs here')),
  }
  return locateProgram({ command, policy: ALLOW_ALL, installHint: HINT }, { programs }, () => {})
}

const HINT = 'Install the plugin, or give its full path behind "--" in exec.args of the kubeconfig.'
