import { lstatSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import {
  type Environment,
  findAllowedProgram,
  findKuberc,
  homeFolder,
  loadPluginPolicy,
  nodePrograms,
} from 'kubecred/internal'
import { type FoundPlugin, findPlugin } from './find-plugin.ts'

/**
 * Finds the file of a command, and checks that every policy allows it.
 *
 * @throws {PluginNotFoundError | PluginNotExecutableError | PluginDeniedError | PolicyInvalidError}
 */
export async function findAllowedPlugin(
  command: string,
  env: Environment,
  policies: readonly string[],
): Promise<FoundPlugin> {
  const programs = nodePrograms(env)
  for (const kuberc of policies) {
    const policy = await loadPluginPolicy({ kuberc, env: {}, home: homedir() })
    await findAllowedProgram({ command, policy }, { programs }, () => {})
  }
  return findPlugin(command, env)
}

/**
 * Returns the environment of the client that started this process, if /proc shows it.
 *
 * Our own environment includes `exec.env` of the kubeconfig: a kubeconfig must not choose the policy that applies to
 * it, nor the folders in which programs are looked up.
 */
export function clientEnvironment(parent: number): Environment | undefined {
  // On Windows that would be a folder at the root of the drive, where other users can create one.
  if (process.platform === 'win32') return undefined
  try {
    const client: Record<string, string> = {}
    for (const pair of readFileSync(`/proc/${parent}/environ`, 'utf8').split('\0')) {
      const equals = pair.indexOf('=')
      if (equals > 0) client[pair.slice(0, equals)] = pair.slice(equals + 1)
    }
    return client
  } catch {
    return undefined
  }
}

/**
 * Returns the policy files that must all allow the plugin: that of the client's environment, that of our own, and that
 * in the user's home folder.
 *
 * The policy is off only if the client's own environment switches it off.
 *
 * @throws {PolicyInvalidError} `ERR_POLICY_INVALID`
 */
export function policyFiles(env: Environment, client: Environment | undefined): readonly string[] {
  const isOff = client !== undefined && findIn(client) === undefined
  if (isOff && findIn(env) === undefined) return []
  const found = [client, env, { HOME: userInfo().homedir }].map((each) => each && findIn(each))
  const paths = found.flatMap((file) => {
    if (file === undefined) return []
    return file.isNamed || isThere(file.path) ? [file.path] : []
  })
  return [...new Set(paths)]
}

function findIn(env: Environment): ReturnType<typeof findKuberc> {
  return findKuberc({ env, home: homeFolder(env) || userInfo().homedir })
}

/** True for a dangling link and for a file without permission as well: reading them reports the error. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}
