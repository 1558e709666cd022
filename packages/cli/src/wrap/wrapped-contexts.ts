import process from 'node:process'
import { isCredentialError } from 'kubecred/errors'
import {
  buildConnection,
  encodeExecInfo,
  execCluster,
  type Kubeconfig,
  loadAuthority,
  MAX_KUBECONFIG_BYTES,
  mergeKubeconfigs,
  nodeFiles,
  placesOf,
  readBoundedFile,
  readKubeconfigFiles,
  surroundings,
} from 'kubecred/internal'
import { isWrapped } from './plan.ts'

/** A context whose plugin is kubecred-token, as a client would start it. */
export interface WrappedContext {
  readonly context: string
  readonly args: readonly string[]
  /** What the stanza sets, and what the client tells. */
  readonly env: Readonly<Record<string, string>>
}

export interface WrappedContextsOptions {
  readonly kubeconfig?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** All contexts whose plugin is kubecred-token. Reads files only; contexts that cannot be used are left out. */
export async function wrappedContexts(options: WrappedContextsOptions): Promise<WrappedContext[]> {
  const { files } = placesOf(options, process.cwd())
  const { configs } = await readKubeconfigFiles(files, 'skipped', (path) =>
    readBoundedFile(path, { mostBytes: MAX_KUBECONFIG_BYTES }),
  )
  const config = mergeKubeconfigs(configs)
  const names = [...config.contexts.keys()]
  const found = await Promise.all(
    names.map((name) =>
      describeContext(config, name).catch((error: unknown) => {
        if (isCredentialError(error)) return undefined
        throw error
      }),
    ),
  )
  return found.filter((context) => context !== undefined)
}

async function describeContext(
  config: Kubeconfig,
  context: string,
): Promise<WrappedContext | undefined> {
  const around = surroundings(process.cwd(), undefined)
  const { cluster, user } = buildConnection(config, { context }, around)
  const { exec } = user
  if (exec === undefined || !isWrapped(exec.command)) return undefined
  const told = exec.provideClusterInfo
    ? execCluster(cluster, await loadAuthority(cluster, nodeFiles))
    : undefined
  const { apiVersion } = exec
  return {
    context,
    args: exec.args.map((arg) => arg.expose()),
    env: {
      ...Object.fromEntries(exec.env.map(({ name, value }) => [name, value.expose()])),
      KUBERNETES_EXEC_INFO: encodeExecInfo({ apiVersion, interactive: false, cluster: told }),
    },
  }
}
