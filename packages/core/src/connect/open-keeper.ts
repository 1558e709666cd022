import { homedir } from 'node:os'
import type { Connection, UserIdentity } from '../kubeconfig/connection.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import { hostEnvironment } from '../node/host-environment.ts'
import { loadPluginPolicy } from '../node/load-plugin-policy.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { nodeFiles } from '../node/node-files.ts'
import { nodePrograms } from '../node/node-programs.ts'
import { nodeTerminal } from '../node/node-terminal.ts'
import { type Borrowed, borrowKeeper } from '../node/process-registry.ts'
import { systemClock } from '../node/system-clock.ts'
import type { ExecCluster } from '../protocol/encode-exec-info.ts'
import type { ExecConfig } from '../protocol/exec-config.ts'
import { chooseSource } from '../sources/choose-source.ts'
import { execIdentity } from '../sources/exec-identity.ts'
import { type ExecPlugin, execSource } from '../sources/exec-source.ts'
import { Keeper } from '../vault/keeper.ts'
import type { ConnectOptions, ConnectPolicy } from './connect-options.ts'

const PLUGIN_TIMEOUT_MS = 60_000
const INTERACTIVE_TIMEOUT_MS = 600_000
const PLUGIN_OUTPUT_BYTES = 1024 * 1024

/**
 * Opens the keeper of a connection's credential.
 *
 * Plugins are shared: all connections of this process that mean the same plugin with the same input
 * get the same keeper. So are logins at an OpenID Connect issuer. Everything else is cheap and belongs to one connection.
 */
export async function openKeeper(
  { cluster, user }: Connection,
  caPem: string | undefined,
  options: ConnectOptions,
): Promise<Borrowed> {
  const { policy = {} } = options
  const lifecycle: Partial<LifecyclePolicy> = {
    ...(policy.backoffFirstMs !== undefined && { backoffFirstMs: policy.backoffFirstMs }),
    ...(policy.backoffLimitMs !== undefined && { backoffLimitMs: policy.backoffLimitMs }),
    ...(policy.drainLimitMs !== undefined && { drainLimitMs: policy.drainLimitMs }),
  }
  const ports = { crypto: nodeCrypto, clock: systemClock, files: nodeFiles }
  if (user.oidc !== undefined) {
    const { openOidcKeeper } = await import('../node/oidc-keeper.ts')
    return openOidcKeeper(user.oidc, {
      isSaved: options.saveOidcTokens ?? false,
      identity: [lifecycle, certificateIdentity(user)],
      make: (login) => new Keeper(chooseSource(user, ports, login), ports, lifecycle),
    })
  }
  if (user.exec === undefined) {
    const keeper = new Keeper(chooseSource(user, ports), ports, lifecycle)
    return { keeper, release: () => keeper.close() }
  }
  const env = options.env ?? hostEnvironment()
  const plugin = await describePlugin(user.exec, cluster, caPem, options)
  const identity = execIdentity(plugin, [lifecycle, ownEnv(options), policy.pluginFolders])
  return borrowKeeper(nodeCrypto.digest(identity), () => {
    const programs = nodePrograms(env, policy.pluginFolders)
    const source = execSource(plugin, {
      ...ports,
      programs,
      terminal: nodeTerminal,
      hostEnv: () => env,
    })
    return new Keeper(source, ports, lifecycle)
  })
}

/** A certificate beside a login is part of what requests are sent with. */
function certificateIdentity({ certificate }: UserIdentity): unknown {
  if (certificate === undefined) return undefined
  const { chain, key } = certificate
  return [chain, key.from === 'data' ? key.data.expose() : key.path]
}

/** The environment where it is another one than the process's: an equal copy means the same. */
function ownEnv({ env }: ConnectOptions): ConnectOptions['env'] {
  const sorted = (each: NonNullable<ConnectOptions['env']>): string =>
    JSON.stringify(Object.entries(each).sort())
  return env === undefined || sorted(env) === sorted(hostEnvironment()) ? undefined : env
}

async function describePlugin(
  exec: ExecConfig,
  cluster: Connection['cluster'],
  caPem: string | undefined,
  { kuberc, env = hostEnvironment(), policy = {}, stdinUnavailable }: ConnectOptions,
): Promise<ExecPlugin> {
  return {
    exec,
    ...(exec.provideClusterInfo && { cluster: execCluster(cluster, caPem) }),
    policy: await loadPluginPolicy({ kuberc, env, home: env['HOME'] || homedir() }),
    ...(policy.pluginEnv && { passEnv: policy.pluginEnv }),
    ...(stdinUnavailable !== undefined && { stdinUnavailable }),
    ...(policy.v1alpha1Kind && { alphaKind: policy.v1alpha1Kind }),
    ...(policy.refuseWritablePlugins && { refuseWritable: true }),
    limits: limitsOf(policy),
  }
}

function limitsOf(policy: ConnectPolicy): ExecPlugin['limits'] {
  return {
    timeoutMs: policy.pluginTimeoutMs ?? PLUGIN_TIMEOUT_MS,
    interactiveTimeoutMs: policy.interactiveTimeoutMs ?? INTERACTIVE_TIMEOUT_MS,
    stdoutBytes: policy.pluginOutputBytes ?? PLUGIN_OUTPUT_BYTES,
  }
}

/** What the plugin is told about the cluster: everything after selection and overrides. */
function execCluster(cluster: Connection['cluster'], caPem: string | undefined): ExecCluster {
  return {
    server: cluster.server,
    tlsServerName: cluster.tlsServerName,
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
    certificateAuthorityData:
      caPem === undefined ? undefined : Buffer.from(caPem).toString('base64'),
    proxyUrl: cluster.proxyUrl?.expose(),
    disableCompression: cluster.disableCompression,
    config: cluster.execExtension,
  }
}
