import type { ConnectOptions } from 'kubecred'
import type { Io } from '../command.ts'
import type { FlagValues } from './flag-values.ts'
import { readPluginEnv, readPluginTimeout, readRefreshOn } from './plugin-settings.ts'

type Policy = NonNullable<ConnectOptions['policy']>

/** How long a plugin may take that opens a browser, where a person sees that we wait for it. */
const ATTENDED_TIMEOUT_MS = 600_000

/**
 * What flags and variables say about plugins. A flag wins over its variable.
 *
 * Where KUBERNETES_EXEC_INFO is set, a client has started us as its plugin: the variables may come from its kubeconfig
 * and are ignored.
 *
 * @throws {UsageError} Names the flag or the variable.
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
 * Limits for plugins. A time that is given holds for every plugin.
 *
 * Without one, a plugin that does not ask has as long as one that does if a person is at the terminal: plugins that
 * open a browser say `interactiveMode: Never`.
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
