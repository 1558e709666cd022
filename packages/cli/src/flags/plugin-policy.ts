import type { ConnectOptions } from 'kubecred'
import type { Io } from '../command.ts'
import type { FlagValues } from './flag-values.ts'
import { readPluginEnv, readPluginTimeout, readRefreshOn } from './plugin-settings.ts'

type Policy = NonNullable<ConnectOptions['policy']>

/** Time limit at a terminal: the plugin may open a browser, and the user sees that the program waits. */
const ATTENDED_TIMEOUT_MS = 600_000

/**
 * Reads the plugin settings from flags and environment variables. A flag takes precedence over its variable.
 *
 * If KUBERNETES_EXEC_INFO is set, a client started this program as its plugin: the variables may come from its
 * kubeconfig and are ignored.
 *
 * @throws {UsageError} If a value is invalid; names the flag or the variable.
 */
export function pluginPolicy(
  flags: FlagValues,
  { env, isTerminal }: Pick<Io, 'env' | 'isTerminal'>,
): Policy {
  const isPlugin = env['KUBERNETES_EXEC_INFO'] !== undefined
  const read = <T>(
    flag: 'plugin-timeout' | 'refresh-on' | 'plugin-env',
    variable: string,
    parse: (text: string, from: string) => T,
  ): T | undefined => {
    const typed = flags.text(flag)
    if (typed !== undefined) return parse(typed, `flag --${flag}`)
    const set = isPlugin ? undefined : env[variable]
    return set ? parse(set, `variable ${variable}`) : undefined
  }
  const refreshOn = read('refresh-on', 'KUBECRED_REFRESH_ON', readRefreshOn)
  const limits = {
    timeoutMs: read('plugin-timeout', 'KUBECRED_PLUGIN_TIMEOUT', readPluginTimeout),
    pluginEnv: read('plugin-env', 'KUBECRED_PLUGIN_ENV', readPluginEnv),
  }
  return {
    ...pluginLimits(limits, isTerminal.stderr),
    ...(refreshOn !== undefined && { refreshOn }),
  }
}

/**
 * Returns the limits for plugins. A given time limit applies to every plugin.
 *
 * By default, all plugins have the interactive limit at a terminal: plugins that open a browser often set
 * `interactiveMode: Never`.
 */
export function pluginLimits(
  limits: {
    readonly timeoutMs: number | undefined
    readonly pluginEnv: readonly string[] | undefined
  },
  isAttended: boolean,
): Policy {
  const { timeoutMs, pluginEnv } = limits
  return {
    ...(isAttended && { pluginTimeoutMs: ATTENDED_TIMEOUT_MS }),
    ...(timeoutMs !== undefined && { pluginTimeoutMs: timeoutMs, interactiveTimeoutMs: timeoutMs }),
    ...(pluginEnv !== undefined && { pluginEnv }),
  }
}
