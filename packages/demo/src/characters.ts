import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import type { Environment } from '@kubecred/cli/internal'
import type { PluginCommand, Sandbox } from '@kubecred/sandbox'
import { type Character, READS, WRITES } from './character.ts'
import { inSeconds, type Rhythm } from './rhythm.ts'
import { pluginUser, writeKubeconfig } from './write-kubeconfig.ts'

/** As long as a plugin takes that asks somebody over the network. */
const PLUGIN_DELAY_MS = 250

/** Jane, who logs in with a plugin and gets tokens. */
export async function makeJane(
  sandbox: Sandbox,
  env: Environment,
  { tokenLifeMs }: Rhythm,
): Promise<Character> {
  const id = 'jane'
  const options = { user: id, groups: ['developers'], lifetimeMs: tokenLifeMs }
  const plugin = await sandbox.plugin({ ...options, delayMs: PLUGIN_DELAY_MS })
  const command = give(sandbox, plugin, 'corp-login')
  return {
    id,
    introduction: `logs in with a plugin, whose tokens live for ${inSeconds(tokenLifeMs)}`,
    kubeconfig: writeKubeconfig(sandbox, id, pluginUser(command)),
    shows: 'token',
    env: environmentOf(sandbox, env),
    deeds: READS,
    revoke: () => sandbox.revoke(id),
  }
}

/** A robot, which gets certificates from a plugin. */
export async function makeRobot(
  sandbox: Sandbox,
  env: Environment,
  { certificateLifeMs }: Rhythm,
): Promise<Character> {
  const id = 'robot'
  const options = { user: id, groups: ['robots'], lifetimeMs: certificateLifeMs }
  const plugin = await sandbox.plugin({
    ...options,
    answers: 'certificate',
    delayMs: PLUGIN_DELAY_MS,
  })
  const command = give(sandbox, plugin, 'corp-certificate')
  return {
    id,
    introduction: `has certificates from another plugin, each good for ${inSeconds(certificateLifeMs)}`,
    kubeconfig: writeKubeconfig(sandbox, id, pluginUser(command)),
    shows: 'certificate',
    env: environmentOf(sandbox, env),
    deeds: WRITES,
    revoke: () => sandbox.revokeCertificates(id),
  }
}

/**
 * What programs of the demo find: no proxy, no plugin policy and no home of the person who looks on.
 *
 * The plugins are the demo's own, so nobody's policy about plugins is gone round.
 */
export function environmentOf({ folder }: Sandbox, env: Environment): Environment {
  const path = [join(folder, 'bin'), dirname(process.execPath), env['PATH'] ?? '']
  const { TMPDIR, SystemRoot, LANG } = env
  return { TMPDIR, SystemRoot, LANG, HOME: folder, PATH: path.join(delimiter) }
}

/** Puts a plugin on the demo's PATH under a name that reads well. */
function give({ folder }: Sandbox, plugin: PluginCommand, name: string): PluginCommand {
  // There a link needs rights that not everybody has; and a plugin with arguments is an interpreter.
  if (process.platform === 'win32' || plugin.args.length > 0) return plugin
  mkdirSync(join(folder, 'bin'), { recursive: true, mode: 0o700 })
  symlinkSync(plugin.command, join(folder, 'bin', name))
  return { ...plugin, command: name }
}
