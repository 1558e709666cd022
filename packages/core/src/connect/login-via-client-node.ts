import { ContextNotFoundError, NotSupportedError } from '../errors/index.ts'
import { quoteName } from '../kubeconfig/quote-name.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import { CLIENT_NODE, loadDefaultKubeConfig } from './client-node-module.ts'
import { checkNames } from './known-names.ts'
import { isForeign, readProvider } from './kube-config/foreign-user.ts'
import { makeConnection } from './kube-config/make-connection.ts'
import type { ReadableKubeConfig } from './kube-config/readable-kube-config.ts'
import { describeSelection, parseSelection, type Selection } from './kube-config/selection.ts'
import { infoOf, type ReadyMadeContext, type ReadyMadeOptions } from './ready-made-login.ts'

export interface ClientNodeLoginOptions extends ReadyMadeOptions {
  /** A `KubeConfig` of the program, loaded already; read again at each login. A new one with its defaults unless given. */
  readonly kubeConfig?: ReadableKubeConfig | undefined
  /**
   * The files that the KubeConfig was read from, to look up what client-node dropped when it read them:
   * KUBECONFIG or `~/.kube/config` unless given.
   */
  readonly files?: string | readonly string[] | undefined
  /** 10 unless told. */
  readonly priority?: number | undefined
}

const OPTIONS = Object.keys({
  kubeConfig: true,
  files: true,
  priority: true,
  trustEnv: true,
} satisfies Record<keyof ClientNodeLoginOptions, true>)

/**
 * Logs in as a `KubeConfig` of @kubernetes/client-node says now. Its plugins run our way, under our policy.
 *
 * @returns Undefined when the program does not have that package, or its KubeConfig names no cluster.
 * @throws {LoginToolError} When the package cannot be loaded, or cannot read the kubeconfig.
 * @throws {NotSupportedError} When the user logs in by an authenticator that the program added.
 */
export async function loginViaClientNode(
  context: ReadyMadeContext,
  options: ClientNodeLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  checkNames(options, 'loginViaClientNode()', OPTIONS)
  const { kubeConfig, files, priority = 10, trustEnv } = options
  context.signal.throwIfAborted()
  const kc = kubeConfig === undefined ? await loadDefaultKubeConfig() : checkShape(kubeConfig)
  context.signal.throwIfAborted()
  const selection = kc && parseSelection(describeSelection(kc))
  if (selection === undefined || !selection.currentContext || isNothing(selection)) return undefined
  refuseUnknown(kc as ReadableKubeConfig, selection)
  const connection = await makeConnection(selection, { kubeconfig: files })
  return infoOf(connection, context, { priority, trustEnv })
}

/** What client-node says when it read nothing: an address at which hardly ever anybody listens. */
function isNothing({ context, cluster, user }: Selection): boolean {
  return (
    context?.name === 'loaded-context' &&
    cluster?.server === 'http://localhost:8080' &&
    Object.keys(cluster).every((key) => key === 'name' || key === 'server') &&
    Object.keys(user ?? {}).every((key) => key === 'name')
  )
}

function checkShape(kc: ReadableKubeConfig): ReadableKubeConfig {
  const { getCurrentContext, getContextObject, getCurrentCluster, getCurrentUser } = Object(kc)
  const methods = [getCurrentContext, getContextObject, getCurrentCluster, getCurrentUser]
  if (methods.every((method) => typeof method === 'function')) return kc
  throw new TypeError(`loginViaClientNode() takes a KubeConfig of ${CLIENT_NODE} as kubeConfig`)
}

function refuseUnknown(kc: ReadableKubeConfig, { currentContext, context, user }: Selection): void {
  if (context === undefined) throw new ContextNotFoundError(currentContext ?? '', contextNames(kc))
  if (user === undefined || user.token || !isForeign(kc, user)) return
  const { name } = readProvider(user)
  // The reader of kubeconfigs has a better answer to these.
  if (name === 'azure' || name === 'gcp') return
  throw new NotSupportedError(
    `user ${quoteName(user.name)} of the KubeConfig logs in by an authenticator that was added to it`,
    {
      hint: 'Use attach() of kubecred/client-node, or call the authenticator in a login handler of your own.',
    },
  )
}

function contextNames(kc: ReadableKubeConfig): string[] {
  const { contexts } = kc as { contexts?: unknown }
  if (!Array.isArray(contexts)) return []
  return contexts.flatMap((each: { name?: unknown }) =>
    typeof each?.name === 'string' ? each.name : [],
  )
}
