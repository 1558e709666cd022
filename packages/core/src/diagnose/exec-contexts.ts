import process from 'node:process'
import { execCluster } from '../connect/open-keeper.ts'
import { isCredentialError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import { buildConnection } from '../kubeconfig/build-connection.ts'
import type { Kubeconfig } from '../kubeconfig/kubeconfig.ts'
import { loadAuthority } from '../node/certificate-authority.ts'
import { buildContext, readKubeconfigs } from '../node/load-kubeconfig.ts'
import { nodeFiles } from '../node/node-files.ts'
import { encodeExecInfo } from '../plugin/exec-info.ts'

/** A context with a credential plugin, and the arguments and environment that a client starts it with. */
export interface ExecContext {
  readonly context: string
  readonly args: readonly string[]
  /** The variables of the `exec` stanza, and `KUBERNETES_EXEC_INFO`. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Lists the contexts whose credential plugin matches.
 *
 * Reads files only. Contexts that cannot be used are skipped.
 *
 * @param isWanted Returns whether to include a context whose plugin has this command.
 * @throws {CredentialError} If the files cannot be read.
 */
export async function execContexts(
  options: {
    readonly kubeconfig?: string | undefined
    readonly env: Environment
  },
  isWanted: (command: string) => boolean,
): Promise<ExecContext[]> {
  const { merged: config } = await readKubeconfigs(options)
  const found = await Promise.all(
    [...config.contexts.keys()].map((name) =>
      describeContext(config, name, isWanted).catch((error: unknown) => {
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
  isWanted: (command: string) => boolean,
): Promise<ExecContext | undefined> {
  const around = buildContext(process.cwd(), undefined)
  const { cluster, user } = buildConnection(config, { context }, around)
  const { exec } = user
  if (exec === undefined || !isWanted(exec.command)) return undefined
  const shown = exec.provideClusterInfo
    ? execCluster(cluster, await loadAuthority(cluster, nodeFiles))
    : undefined
  const { apiVersion } = exec
  return {
    context,
    args: exec.args.map((arg) => arg.expose()),
    env: {
      ...Object.fromEntries(exec.env.map(({ name, value }) => [name, value.expose()])),
      KUBERNETES_EXEC_INFO: encodeExecInfo({ apiVersion, interactive: false, cluster: shown }),
    },
  }
}
