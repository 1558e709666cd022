import { parseProxyUrl, proxyFromEnvironment } from '../dial/proxy.ts'
import { makeTarget, type Target } from '../dial/target.ts'
import {
  type ConnectionLimits,
  type Exchange,
  MAX_SIGNING_CONNECTIONS,
} from '../exchange/exchange.ts'
import type { Environment } from '../formats/plain-object.ts'
import { notify } from '../keeper/observers.ts'
import { impersonationFromOptions } from '../kubeconfig/build-connection.ts'
import type { ClusterTarget, Connection, Endpoint } from '../kubeconfig/connection.ts'
import { loadAuthority, watchAuthority } from '../node/certificate-authority.ts'
import { hostEnvironment } from '../node/environment.ts'
import { loadConnection } from '../node/load-kubeconfig.ts'
import { nodeFiles } from '../node/node-files.ts'
import { processProtocol, versionRegistry } from '../node/process-registry.ts'
import { DEFAULT_TRANSPORT } from '../node/runtime.ts'
import type { Observer } from '../ports/observer.ts'
import type { Terminal } from '../ports/terminal.ts'
import { defaultHeaders } from '../request/headers.ts'
import { Line } from '../request/line.ts'
import type { Report } from '../sources/source.ts'
import type { Vault } from '../vault/vault.ts'
import { checkVersion, VERSION } from '../version.ts'
import { Cluster } from './cluster.ts'
import { type ConnectOptions, checkOptions, promptObserver } from './connect-options.ts'
import { openKeeper } from './open-keeper.ts'

const REQUEST_LIMIT = 64
const STREAM_LIMIT = 1000

/**
 * Connects to a cluster with the kubeconfig, the options or the pod's service account.
 *
 * Does not run a plugin or send a request; the first request does. Only with a vault it waits for the first login. An
 * invalid configuration is reported here.
 *
 * @throws {CredentialError} If the configuration is invalid; the message names file and entry.
 * @throws {TypeError} If an option is unknown or invalid.
 *
 * @example
 * const cluster = await connect()
 * const response = await cluster.fetch('/api/v1/namespaces')
 *
 * @example
 * const text = await readFile('/secrets/kubeconfig', 'utf8')
 * const cluster = await connect({ kubeconfig: { text, folder: '/secrets' } })
 */
export async function connect(options: ConnectOptions = {}): Promise<Cluster> {
  checkOptions(options)
  options.signal?.throwIfAborted()
  if (options.vault !== undefined) return openVaultCluster(options.vault, options)
  const connection = await loadConnection({
    kubeconfig: options.kubeconfig,
    overrides: options,
    env: options.env ?? hostEnvironment(),
  })
  return openCluster(connection, options)
}

/**
 * Connects with login handlers: waits for the first usable login.
 *
 * @throws {LoginError} `ERR_LOGIN_FAILED` if there is none in time.
 */
async function openVaultCluster(own: Vault, options: ConnectOptions): Promise<Cluster> {
  const { policy = {}, signal, env = hostEnvironment(), disableCompression = false } = options
  // Options for impersonation apply to every login, as if each request had them.
  const impersonate = impersonationFromOptions(options)
  checkVersion(own, 'connect()', 'Vault')
  // Only programs with login handlers load them.
  const { openVault } = await import('./open-vault.ts')
  const { vault, release } = openVault(own, options)
  const stopWatching = watchAll(vault, options)
  try {
    const { endpoint } = await vault.lease(signal)
    if (endpoint === undefined) throw new TypeError('a login without a server')
    const targetFor = ({ cluster, ca, trustEnv }: Endpoint): Target =>
      targetOf(cluster, ca, trustEnv ? env : {})
    const line = new Line({
      target: targetFor(endpoint),
      targetFor,
      keeper: vault,
      defaults: defaultHeaders({
        userAgent: `kubecred/${VERSION}`,
        disableCompression,
        impersonate,
      }),
      refreshOn: policy.refreshOn ?? [401],
      limits: limitsOf(options),
      loadExchange: () => loadExchange(options),
    })
    const { namespace, cluster: chosen } = endpoint
    const connection = {
      namespace,
      cluster: chosen,
      user: impersonate === undefined ? {} : { impersonate },
      warnings: [],
      origin: 'login handlers',
    }
    const cluster = new Cluster({
      connection,
      line,
      release: () => release(),
      onClose() {
        stopWatching()
        signal?.removeEventListener('abort', end)
      },
    })
    const end = (): void => void cluster.close()
    signal?.addEventListener('abort', end, { once: true })
    return cluster
  } catch (error) {
    stopWatching()
    await release(error)
    throw error
  }
}

/** Makes the target of a cluster: its address, how to verify it and the proxy, which may come from the environment. */
export function targetOf(cluster: ClusterTarget, ca: string | undefined, env: Environment): Target {
  const { server, proxyUrl, tlsServerName, insecureSkipTlsVerify } = cluster
  const proxy =
    proxyUrl === undefined
      ? proxyFromEnvironment(server, env)
      : parseProxyUrl(proxyUrl, 'proxy-url')
  return makeTarget(
    server,
    { ca, serverName: tlsServerName, insecure: insecureSkipTlsVerify },
    proxy,
  )
}

/**
 * Opens a cluster for a connection. Options that select or override it are ignored.
 *
 * @param terminal Where plugins may prompt the user; the terminal of this process by default.
 */
export async function openCluster(
  connection: Connection,
  options: ConnectOptions,
  terminal?: Terminal,
): Promise<Cluster> {
  const { policy = {}, signal, observer, env = hostEnvironment() } = options
  const ca = await loadAuthority(connection.cluster, nodeFiles)
  const { disableCompression } = connection.cluster
  const targetWith = (caPem: string | undefined): Target => targetOf(connection.cluster, caPem, env)
  // First, so that an invalid target is reported before a plugin is looked up.
  const target = targetWith(ca)
  if (policy.pluginLimit !== undefined) processProtocol().setSlotLimit(policy.pluginLimit)
  const shared = await openKeeper(connection, ca, options, terminal)
  const stopWatching = watchAll(shared.keeper, options)
  /** Reports events of this connection alone: others may share the keeper. */
  const report = (event: Report): void => {
    const labelled = { ...event, source: shared.keeper.label }
    for (const each of [observer, versionRegistry().publish]) if (each) notify(each, labelled)
  }
  const line = new Line({
    target,
    keeper: shared.keeper,
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
    release: () => shared.release(),
    onClose() {
      stopWatching()
      stopFollowing()
      signal?.removeEventListener('abort', end)
    },
  })
  const stopFollowing = watchAuthority(connection.cluster, ca, nodeFiles, {
    onChange: (newer) => line.retarget(targetWith(newer)),
    onProblem: (message) => shared.keeper.report({ type: 'warning', message }),
    onReload: (reload) => report({ type: 'ca-reload', ...reload }),
  })
  const end = (): void => void cluster.close()
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) {
    // Aborted before the listener was added, which will not be called.
    await cluster.close()
    throw signal.reason
  }
  for (const message of connection.warnings) report({ type: 'warning', message })
  return cluster
}

/** Adds the observers of a connection and the diagnostics channel. Returns a function that removes them. */
function watchAll(
  watched: { watch(observer: Observer): () => void },
  { observer, onPrompt }: ConnectOptions,
): () => void {
  const observers = [observer, onPrompt && promptObserver(onPrompt), versionRegistry().publish]
  const stops = observers.map((each) => each && watched.watch(each))
  return () => {
    for (const stop of stops) stop?.()
  }
}

function limitsOf({ policy = {} }: ConnectOptions): ConnectionLimits {
  return {
    requests: policy.requestLimit ?? REQUEST_LIMIT,
    streams: policy.streamLimit ?? STREAM_LIMIT,
  }
}

async function loadExchange(options: ConnectOptions): Promise<Exchange> {
  const { transport = DEFAULT_TRANSPORT } = options
  if (transport === 'https') {
    const { httpsExchange } = await import('../exchange/https.ts')
    return httpsExchange()
  }
  if (transport === 'http2') {
    const { http2Exchange } = await import('../exchange/http2.ts')
    return http2Exchange()
  }
  const { undiciExchange } = await import('../exchange/undici.ts')
  const limits = limitsOf(options)
  const pool = undiciExchange(limits)
  if (transport === 'pool') return pool
  const { limitSigningConnections } = await import('../exchange/limit-signing-connections.ts')
  const few = undiciExchange({
    ...limits,
    requests: Math.min(limits.requests, MAX_SIGNING_CONNECTIONS),
  })
  return limitSigningConnections({ usual: pool, few })
}
