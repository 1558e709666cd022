import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import {
  ALLOW_ALL,
  type Environment,
  findAllowedProgram,
  findExecutable,
  type Located,
  type Programs,
  searchPath,
} from 'kubecred/internal'

/** A plugin that was found on this machine. */
export type FoundPlugin = Extract<Located, { is: 'found' }>

/**
 * Finds the file of a command without applying a plugin policy. Loads only what that needs.
 *
 * @throws {PluginNotFoundError | PluginNotExecutableError}
 */
export function findPlugin(command: string, env: Environment): Promise<FoundPlugin> {
  const programs: Programs = {
    locate: (name) => findExecutable(name, searchPath(env)),
    sha256: () => Promise.reject(new Error('only a policy asks for digests')),
    run: () => Promise.reject(new Error('nothing runs here')),
  }
  return findAllowedProgram(
    { command, policy: ALLOW_ALL, installHint: HINT },
    { programs },
    () => {},
  )
}

const HINT = 'Install the plugin, or set its full path after "--" in exec.args of the kubeconfig.'

/**
 * Finds the file of a command synchronously, in the simple case.
 *
 * Follows the rules of `findExecutable`, which must be called to explain the problem if this returns undefined: a name
 * is looked up in the absolute folders of PATH.
 */
export function findPluginSync(command: string, path: string | undefined): FoundPlugin | undefined {
  if (command === '' || process.platform === 'win32') return undefined
  if (command.includes('/')) return look(resolve(command))
  for (const folder of (path ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue
    const found = look(join(folder, command))
    if (found !== undefined) return found
  }
  return undefined
}

function look(path: string): FoundPlugin | undefined {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
    accessSync(path, constants.X_OK)
    return { is: 'found', path, realPath: realpathSync.native(path) }
  } catch {
    return undefined
  }
}
