import { constants, getPriority, setPriority } from 'node:os'

/** Programs that people have as credential plugins. */
export type PluginName = 'kubelogin' | 'aws-iam-authenticator' | 'aws'

interface Finder {
  whyNoPlugin(name: PluginName): string | undefined
  findPlugin(name: PluginName, tell: (line: string) => void): Promise<string>
}

const finder: Finder = await import(
  new URL('../../../tools/cluster/find-plugins.mjs', import.meta.url).href
)

/** Why the tests of a plugin are skipped; undefined when they run. Where everything must run, they run and say it. */
export function whySkipped(name: PluginName): string | undefined {
  return process.env['CI'] === 'true' ? undefined : finder.whyNoPlugin(name)
}

/** The path of a plugin, which is made if need be: once, and it says how far it is. */
export async function findPlugin(name: PluginName): Promise<string> {
  const reason = finder.whyNoPlugin(name)
  if (reason !== undefined) throw new Error(`${name} is not here: ${reason}`)
  const before = getPriority()
  // What is started inherits it: a compiler takes all it can get.
  setPriority(Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL))
  try {
    return await finder.findPlugin(name, (line) => process.stderr.write(`cluster: ${line}\n`))
  } finally {
    setPriority(before)
  }
}
