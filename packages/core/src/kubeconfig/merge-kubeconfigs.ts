import type { Kubeconfig } from './kubeconfig.ts'

/**
 * Merges kubeconfigs in order of precedence, as kubectl does: of entries with one name the first wins, whole,
 * and so does the first `current-context` that is set. Fields of two files are never mixed in one entry.
 */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return {
    clusters: firstOfEach(configs.map((config) => config.clusters)),
    users: firstOfEach(configs.map((config) => config.users)),
    contexts: firstOfEach(configs.map((config) => config.contexts)),
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    extensions: firstOfEach(configs.map((config) => config.extensions)),
    files: configs.flatMap((config) => config.files),
  }
}

function firstOfEach<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  const merged = new Map<string, T>()
  for (const map of maps) {
    for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry)
  }
  return merged
}
