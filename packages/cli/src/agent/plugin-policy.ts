import { lstatSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import {
  type Environment,
  findAllowedProgram,
  findKuberc,
  loadPluginPolicy,
  nodePrograms,
} from 'kubecred/internal'
import { type FoundPlugin, findPlugin } from './find-plugin.ts'

/**
 * Finds the file for a command, and asks every policy whether it may run.
 *
 * @throws {PluginNotFoundError | PluginNotExecutableError | PluginDeniedError | PolicyInvalidError}
 */
export async function judgePlugin(
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
 * The environment of the client that started us, where /proc shows it.
 *
 * Ours also has what the kubeconfig set in `exec.env`: a kubeconfig must not be able to choose where we look for
 * the policy that it is judged by, nor for the programs that the policy names.
 */
export function clientEnvironment(parent: number): Environment | undefined {
  try {
    const client: Record<string, string> = {}
    for (const pair of readFileSync(`/proc/${parent}/environ`, 'utf8').split('\0')) {
      const border = pair.indexOf('=')
      if (border > 0) client[pair.slice(0, border)] = pair.slice(border + 1)
    }
    return client
  } catch {
    return undefined
  }
}

/**
 * The policies that a plugin behind us must be allowed by: all of them, so that each can only narrow.
 *
 * That of the client's environment, that of ours, and that of the user's own home. To switch the policy off
 * counts only where the client itself was told to.
 *
 * @throws {PolicyInvalidError}
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
  return findKuberc({ env, home: env['HOME'] || userInfo().homedir })
}

/** Also a link that leads nowhere, and what we may not look at: both are for the reader to refuse. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}
