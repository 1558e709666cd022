import { homedir } from 'node:os'
import { loadPluginPolicy } from '../node/load-plugin-policy.ts'
import { nodePrograms } from '../node/node-programs.ts'
import { locateProgram } from '../sources/locate-program.ts'
import { type FoundPlugin, findPlugin } from './find-plugin.ts'

/**
 * Finds the file for a command, and asks every policy whether it may run.
 *
 * @throws {PluginNotFoundError | PluginNotExecutableError | PluginDeniedError | PolicyInvalidError}
 */
export async function judgePlugin(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  policies: readonly string[],
): Promise<FoundPlugin> {
  const programs = nodePrograms(env)
  for (const kuberc of policies) {
    const policy = await loadPluginPolicy({ kuberc, env: {}, home: homedir() })
    await locateProgram({ command, policy }, { programs }, () => {})
  }
  return findPlugin(command, env)
}
