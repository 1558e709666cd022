import type { Connection } from '../kubeconfig/connection.ts'
import { hostEnvironment } from '../node/host-environment.ts'
import { loadAuthority } from '../node/load-authority.ts'
import { loadConnection } from '../node/load-kubeconfig.ts'
import { nodeFiles } from '../node/node-files.ts'
import { processRegistry } from '../node/process-registry.ts'
import { defaultHeaders } from '../transport/default-headers.ts'
import type { ConnectionLimits, Exchange } from '../transport/exchange.ts'
import { Line } from '../transport/line.ts'
import { proxyFromEnvironment } from '../transport/proxy-from-environment.ts'
import { readProxy } from '../transport/proxy-server.ts'
import { makeTarget, type Target } from '../transport/target.ts'
import { tell } from '../vault/watchers.ts'
import { VERSION } from '../version.ts'
import { Cluster } from './cluster.ts'
import { type ConnectOptions, checkOptions } from './connect-options.ts'
import { followAuthority } from './follow-authority.ts'
import { openKeeper } from './open-keeper.ts'

const REQUEST_LIMIT = 64
const STREAM_LIMIT = 1000

/**
 * Connects to a cluster as the kubeconfig, the options or the pod's service account say.
 *
 * Neither runs a plugin nor sends a request: the first request does. A mistake in the configuration
 * shows here.
 *
 * @throws {CredentialError} Names file, entry and remedy.
 * @throws {TypeError} Names an option that does not exist.
 *
 * @example
 * const cluster = await connect()
 * const response = await cluster.fetch('/api/v1/namespaces')
 */
export async function connect(options: ConnectOptions = {}): Promise<Cluster> {
  checkOptions(options)
  options.signal?.throwIfAborted()
  const connection = await loadConnection({
    kubeconfig: options.kubeconfig,
    overrides: options,
    env: options.env ?? hostEnvironment(),
  })
  return openCluster(connection, options)
}

/** Connects as a connection says that was made elsewhere; of the options, those about it do not count. */
export async function openCluster(
  connection: Connection,
  options: ConnectOptions,
): Promise<Cluster> {
  const { policy = {}, signal, observer, env = hostEnvironment() } = options
  const { proxyUrl } = connection.cluster
  const proxy =
    proxyUrl === undefined
      ? proxyFromEnvironment(connection.cluster.server, env)
      : readProxy(proxyUrl, 'proxy-url')
  const ca = await loadAuthority(connection.cluster, nodeFiles)
  const { server, tlsServerName, insecureSkipTlsVerify, disableCompression } = connection.cluster
  const targetWith = (caPem: string | undefined): Target =>
    makeTarget(
      server,
      { ca: caPem, serverName: tlsServerName, insecure: insecureSkipTlsVerify },
      proxy,
    )
  if (policy.pluginLimit !== undefined) processRegistry().slots.limit = policy.pluginLimit
  const borrowed = await openKeeper(connection, ca, options)
  const stopWatching = observer ? borrowed.keeper.watch(observer) : () => {}
  const line = new Line({
    target: targetWith(ca),
    keeper: borrowed.keeper,
    defaults: defaultHeaders({
      userAgent: `kubecred/${VERSION}`,
      disableCompression,
      impersonate: connection.user.impersonate,
    }),
    refreshOn: policy.refreshOn ?? [401],
    limits: limitsOf(options),
    loadExchange: () => loadExchange(options),
  })
  const cluster = new Cluster({
    connection,
    line,
    borrowed,
    onClose() {
      stopWatching()
      stopFollowing()
      signal?.removeEventListener('abort', end)
    },
  })
  const stopFollowing = followAuthority(connection.cluster, ca, nodeFiles, {
    onChange: (newer) => line.retarget(targetWith(newer)),
    onProblem: (message) => borrowed.keeper.report({ type: 'warning', message }),
  })
  const end = (): void => void cluster.close()
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) {
    // While we were busy; nobody will tell us again.
    await cluster.close()
    throw signal.reason
  }
  for (const message of connection.warnings) {
    if (observer) tell(observer, { type: 'warning', message, source: borrowed.keeper.label })
  }
  return cluster
}

function limitsOf({ policy = {} }: ConnectOptions): ConnectionLimits {
  return {
    requests: policy.requestLimit ?? REQUEST_LIMIT,
    streams: policy.streamLimit ?? STREAM_LIMIT,
  }
}

async function loadExchange(options: ConnectOptions): Promise<Exchange> {
  if (options.transport === 'https') {
    const { httpsExchange } = await import('../transport/https-exchange.ts')
    return httpsExchange()
  }
  if (options.transport === 'http2') {
    const { http2Exchange } = await import('../transport/http2-exchange.ts')
    return http2Exchange()
  }
  const { undiciExchange } = await import('../transport/undici-exchange.ts')
  return undiciExchange(limitsOf(options))
}
