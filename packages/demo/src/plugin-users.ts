import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import type { Environment } from '@kubecred/cli/internal'
import type { PluginCommand, Sandbox } from '@kubecred/sandbox'
import { type DemoUser, READS, WRITES } from './demo-user.ts'
import { inSeconds, type Pacing } from './pacing.ts'
import { pluginUser, writeKubeconfig } from './write-kubeconfig.ts'

/** Simulates a plugin that talks to a server. */
const PLUGIN_DELAY_MS = 250

/** Creates Jane, whose plugin returns tokens. */
export async function createJane(
  sandbox: Sandbox,
  env: Environment,
  { tokenLifeMs }: Pacing,
): Promise<DemoUser> {
  const id = 'jane'
  const options = { user: id, groups: ['developers'], lifetimeMs: tokenLifeMs }
  const plugin = await sandbox.plugin({ ...options, delayMs: PLUGIN_DELAY_MS })
  const command = linkPlugin(sandbox, plugin, 'corp-login')
  return {
    id,
    description: `logs in with a plugin; its tokens expire after ${inSeconds(tokenLifeMs)}`,
    kubeconfig: writeKubeconfig(sandbox, id, pluginUser(command)),
    credential: 'token',
    env: environmentOf(sandbox, env),
    requests: READS,
    revoke: () => sandbox.revoke(id),
  }
}

/** Creates Robot, whose plugin returns certificates. */
export async function createRobot(
  sandbox: Sandbox,
  env: Environment,
  { certificateLifeMs }: Pacing,
): Promise<DemoUser> {
  const id = 'robot'
  const options = { user: id, groups: ['robots'], lifetimeMs: certificateLifeMs }
  const plugin = await sandbox.plugin({
    ...options,
    credential: 'certificate',
    delayMs: PLUGIN_DELAY_MS,
  })
  const command = linkPlugin(sandbox, plugin, 'corp-certificate')
  return {
    id,
    description: `gets certificates from another plugin; they expire after ${inSeconds(certificateLifeMs)}`,
    kubeconfig: writeKubeconfig(sandbox, id, pluginUser(command)),
    credential: 'certificate',
    env: environmentOf(sandbox, env),
    requests: WRITES,
    revoke: () => sandbox.revokeCertificates(id),
  }
}

/**
 * Returns the environment of the demo's plugins and signers: without the proxy, plugin policy and home of the person who
 * runs the demo.
 *
 * The plugins are the demo's own, so this does not bypass a plugin policy.
 */
export function environmentOf({ folder }: Sandbox, env: Environment): Environment {
  const path = [join(folder, 'bin'), dirname(process.execPath), env['PATH'] ?? '']
  const { TMPDIR, SystemRoot, LANG } = env
  return { TMPDIR, SystemRoot, LANG, HOME: folder, PATH: path.join(delimiter) }
}

/** Links a plugin into the demo's PATH under a readable name. */
function linkPlugin({ folder }: Sandbox, plugin: PluginCommand, name: string): PluginCommand {
  // On Windows links need special rights; and a plugin with arguments is started through an interpreter.
  if (process.platform === 'win32' || plugin.args.length > 0) return plugin
  mkdirSync(join(folder, 'bin'), { recursive: true, mode: 0o700 })
  symlinkSync(plugin.command, join(folder, 'bin', name))
  return { ...plugin, command: name }
}
