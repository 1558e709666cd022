import { parseDuration } from '../flags/duration.ts'
import { readPluginEnv, readPluginTimeout } from '../flags/plugin-settings.ts'
import { UsageError } from '../usage-error.ts'

/** The arguments of `kubecred-token`, before and after `--`. */
export interface TokenArguments {
  /** The plugin and its arguments; undefined for a context. */
  readonly plugin: { readonly command: string; readonly args: readonly string[] } | undefined
  readonly dependsOn: readonly string[]
  readonly ttlMs: number | undefined
  /** Time limit of the plugin. */
  readonly timeoutMs: number | undefined
  /** Names of the environment variables for the plugin; all if undefined. */
  readonly pluginEnv: readonly string[] | undefined
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly isHelp: boolean
  readonly isVersion: boolean
}

const WITH_VALUE = ['depends-on', 'ttl', 'plugin-timeout', 'plugin-env', 'kubeconfig', 'context']

/** Parses the arguments without `parseArgs`, which would take longer to load than everything else. */
export function readArguments(argv: readonly string[]): TokenArguments {
  const separator = argv.indexOf('--')
  const own = separator === -1 ? argv : argv.slice(0, separator)
  const [command, ...args] = separator === -1 ? [] : argv.slice(separator + 1)
  if (separator !== -1 && !command) throw new UsageError('there is no plugin after "--"')
  const given = readFlags(own)
  const last = (name: string): string | undefined => given.get(name)?.at(-1)
  const wrong = ['kubeconfig', 'context'].find((name) => given.has(name))
  if (command !== undefined && wrong !== undefined) {
    throw new UsageError(`flag --${wrong} cannot be combined with a plugin after "--"`)
  }
  const read = <T>(name: string, parse: (text: string, from: string) => T): T | undefined => {
    const text = last(name)
    return text === undefined ? undefined : parse(text, `flag --${name}`)
  }
  return {
    plugin: command === undefined ? undefined : { command, args },
    dependsOn: given.get('depends-on') ?? [],
    ttlMs: readTtl(last('ttl')),
    timeoutMs: read('plugin-timeout', readPluginTimeout),
    pluginEnv: read('plugin-env', readPluginEnv),
    kubeconfig: last('kubeconfig'),
    context: last('context'),
    isHelp: given.has('help'),
    isVersion: given.has('version'),
  }
}

function readTtl(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const milliseconds = parseDuration(text)
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds
  throw new UsageError(`flag --ttl takes a time such as 10m, not ${JSON.stringify(text)}`)
}

function readFlags(own: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const given = new Map<string, string[]>()
  for (let at = 0; at < own.length; at += 1) {
    const [, name = '', , inline] = /^--([a-z-]+)(=(.*))?$/s.exec(own[at] ?? '') ?? []
    if (name === 'help' || name === 'version') given.set(name, ['true'])
    else if (!WITH_VALUE.includes(name)) {
      throw new UsageError(`unexpected argument ${JSON.stringify(own[at])}`)
    } else {
      const value = inline ?? own[++at]
      if (!value) throw new UsageError(`flag --${name} needs a value`)
      given.set(name, [...(given.get(name) ?? []), value])
    }
  }
  return given
}
