import {
  type ExecConfig,
  GROUP,
  type InteractiveMode,
} from '../packages/core/src/kubeconfig/exec-config.ts'
import { nodeCrypto } from '../packages/core/src/node/node-crypto.ts'
import { nodePrograms } from '../packages/core/src/node/node-programs.ts'
import { systemClock } from '../packages/core/src/node/system-clock.ts'
import type { ExecCluster } from '../packages/core/src/plugin/exec-info.ts'
import { ALLOW_ALL, type PluginPolicy } from '../packages/core/src/plugin/plugin-policy.ts'
import { Secret } from '../packages/core/src/secret/secret.ts'
import { execSource } from '../packages/core/src/sources/exec-source.ts'
import type { Acquired, Source } from '../packages/core/src/sources/source.ts'
import type { PluginCommand } from '../packages/sandbox/src/index.ts'

export type Version = 'v1' | 'v1beta1' | 'v1alpha1'

/** The conditions of a plugin run. */
export interface RunConditions {
  readonly version?: Version
  readonly interactiveMode?: InteractiveMode
  readonly installHint?: string
  /** Passed to the plugin; without it `provideClusterInfo` is off. */
  readonly cluster?: ExecCluster
  readonly isTerminal?: boolean
  readonly stdinUnavailable?: string
  readonly policy?: PluginPolicy
  /** Variables in addition to the real environment. */
  readonly env?: Readonly<Record<string, string>>
}

const LIMITS = { timeoutMs: 20_000, interactiveTimeoutMs: 20_000, stdoutBytes: 1024 * 1024 }

/** Runs a plugin once through the real source. */
export function runOnce(plugin: PluginCommand, around: RunConditions): Promise<Acquired> {
  return pluginSource(plugin, around).acquire({
    reason: 'first',
    signal: new AbortController().signal,
    report: () => {},
  })
}

/** Creates an exec source with real lookup, processes and checks. Only the terminal is fake. */
export function pluginSource(plugin: PluginCommand, around: RunConditions): Source {
  const env = { ...process.env, ...around.env }
  return execSource(
    {
      exec: describe(plugin, around),
      ...(around.cluster && { cluster: around.cluster }),
      policy: around.policy ?? ALLOW_ALL,
      ...(around.stdinUnavailable !== undefined && { stdinUnavailable: around.stdinUnavailable }),
      limits: LIMITS,
    },
    {
      programs: nodePrograms(env),
      terminal: { isTerminal: () => around.isTerminal ?? false },
      crypto: nodeCrypto,
      clock: systemClock,
      hostEnv: () => env,
    },
  )
}

function describe({ command, args, env }: PluginCommand, around: RunConditions): ExecConfig {
  return {
    apiVersion: `${GROUP}/${around.version ?? 'v1beta1'}`,
    command,
    args: args.map((arg) => new Secret(arg)),
    env: Object.entries(env).map(([name, value]) => ({ name, value: new Secret(value) })),
    ...(around.installHint !== undefined && { installHint: around.installHint }),
    provideClusterInfo: around.cluster !== undefined,
    interactiveMode: around.interactiveMode ?? 'IfAvailable',
  }
}
