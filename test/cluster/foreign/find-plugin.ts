import { constants, getPriority, setPriority } from 'node:os'

/** Third-party credential plugins. */
export type PluginName = 'kubelogin' | 'aws-iam-authenticator' | 'aws'

interface Finder {
  whyNoPlugin(name: PluginName): string | undefined
  findPlugin(name: PluginName, report: (line: string) => void): Promise<string>
}

const finder: Finder = await import(
  new URL('../../../tools/cluster/find-plugins.mjs', import.meta.url).href
)

/** Returns why the tests of a plugin are skipped; undefined if they run. If everything must run, they run and fail. */
export function whySkipped(name: PluginName): string | undefined {
  return process.env['CI'] === 'true' ? undefined : finder.whyNoPlugin(name)
}

/** Returns the path of a plugin. Builds it the first time, and reports progress. */
export async function findPlugin(name: PluginName): Promise<string> {
  const reason = finder.whyNoPlugin(name)
  if (reason !== undefined) throw new Error(`${name} is not here: ${reason}`)
  const before = getPriority()
  // Child processes inherit the priority; a compiler would use all CPUs.
  setPriority(Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL))
  try {
    return await finder.findPlugin(name, (line) => process.stderr.write(`cluster: ${line}\n`))
  } finally {
    setPriority(before)
  }
}
