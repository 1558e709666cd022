import { homedir } from 'node:os'
import { loadPluginPolicy } from '../../node/load-plugin-policy.ts'
import { nodePrograms } from '../../node/node-programs.ts'
import type { ExecConfig } from '../../protocol/exec-config.ts'
import type { PluginPolicy } from '../../protocol/plugin-policy.ts'
import { judgeProgram } from '../../sources/locate-program.ts'
import type { ConnectOptions } from '../connect-options.ts'
import type { Look } from './finding.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Whether the plugin may run, as kubectl's preferences say. */
export async function lookAtPolicy(
  command: string,
  { kuberc, policy }: ConnectOptions,
  env: Environment,
): Promise<Look> {
  const rules = await loadPluginPolicy({ kuberc, env, home: env['HOME'] || homedir() })
  if (rules.type === 'AllowAll') return { verdict: 'good', summary: 'every plugin may run' }
  const details = [`from: ${rules.origin}`]
  const reason = await whyNot(rules, command, nodePrograms(env, policy?.pluginFolders))
  if (reason === undefined) {
    return { verdict: 'good', summary: `${JSON.stringify(command)} may run`, details }
  }
  return {
    verdict: 'bad',
    summary: `${JSON.stringify(command)} may not run: ${reason}`,
    details,
    remedy: `Add it to credentialPluginAllowlist in ${rules.origin} if you trust it.`,
    code: 'ERR_PLUGIN_DENIED',
  }
}

async function whyNot(
  rules: Exclude<PluginPolicy, { type: 'AllowAll' }>,
  command: string,
  programs: ReturnType<typeof nodePrograms>,
): Promise<string | undefined> {
  if (rules.type === 'DenyAll') return 'the policy is DenyAll'
  const located = await programs.locate(command)
  // Whether it is there at all is the next step's business.
  if (located.is !== 'found') return undefined
  return judgeProgram(rules, command, located, programs)
}

/** Which file the command is. */
export async function lookForPlugin(
  { command, installHint }: Pick<ExecConfig, 'command' | 'installHint'>,
  { policy }: ConnectOptions,
  env: Environment,
): Promise<Look> {
  const located = await nodePrograms(env, policy?.pluginFolders).locate(command)
  if (located.is === 'missing') {
    return {
      verdict: 'bad',
      summary: `${JSON.stringify(command)} is in no folder of PATH`,
      details: [`looked in ${located.lookedIn.join(', ') || 'no folder: PATH is empty'}`],
      remedy: installHint ?? 'Install the plugin, or write its full path in exec.command.',
      code: 'ERR_PLUGIN_NOT_FOUND',
    }
  }
  if (located.is === 'unusable') {
    return {
      verdict: 'bad',
      summary: `${located.path} cannot run: ${located.reason}`,
      remedy: `Make it executable (chmod +x ${located.path}), or install the plugin again.`,
      code: 'ERR_PLUGIN_NOT_EXECUTABLE',
    }
  }
  const { path, realPath, writableByOthers } = located
  return {
    verdict: writableByOthers === undefined ? 'good' : 'odd',
    summary: path,
    details: [
      ...(realPath === path ? [] : [`which is ${realPath}`]),
      ...(writableByOthers === undefined ? [] : [writableByOthers]),
    ],
    ...(writableByOthers !== undefined && {
      remedy: `Let only its owner write it: chmod go-w ${realPath}`,
    }),
  }
}
