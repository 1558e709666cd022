import { homedir } from 'node:os'
import { Keeper } from '../keeper/keeper.ts'
import type { ClusterTarget, Connection, UserIdentity } from '../kubeconfig/connection.ts'
import type { ExecConfig } from '../kubeconfig/exec-config.ts'
import type { SignerConfig } from '../kubeconfig/external-signer-config.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import { hostEnvironment, nodeTerminal, systemName, withFolders } from '../node/environment.ts'
import { homeFolder } from '../node/load-kubeconfig.ts'
import { loadPluginPolicy } from '../node/load-plugin-policy.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { nodeFiles } from '../node/node-files.ts'
import { nodePrograms } from '../node/node-programs.ts'
import { acquireSharedKeeper, type SharedKeeper } from '../node/process-registry.ts'
import { requireAbility } from '../node/runtime.ts'
import { systemClock } from '../node/system-clock.ts'
import type { ExecCluster } from '../plugin/exec-info.ts'
import type { Terminal } from '../ports/terminal.ts'
import { chooseSource } from '../sources/choose-source.ts'
import { type ExecPlugin, execIdentity, execSource } from '../sources/exec-source.ts'
import type { ExternalSigner } from '../sources/signer-source.ts'
import type { ConnectOptions, ConnectPolicy } from './connect-options.ts'

const PLUGIN_TIMEOUT_MS = 60_000
const INTERACTIVE_TIMEOUT_MS = 600_000
const PLUGIN_OUTPUT_BYTES = 1024 * 1024
const SIGNER_IDLE_MS = 600_000

/**
 * Opens the keeper of a connection's credential.
 *
 * All connections of this process with the same plugin and the same input share one keeper. So do those with the same
 * external signer or OpenID Connect session. Everything else is cheap and belongs to one connection.
 */
export async function openKeeper(
  { cluster, user }: Connection,
  caPem: string | undefined,
  options: ConnectOptions,
  terminal: Terminal = nodeTerminal,
): Promise<SharedKeeper> {
  const { policy = {} } = options
  const lifecycle = lifecycleOf(policy)
  const ports = { crypto: nodeCrypto, clock: systemClock, files: nodeFiles }
  if (user.oidc !== undefined) {
    const { openOidcKeeper } = await import('../node/oidc-keeper.ts')
    return openOidcKeeper(user.oidc, {
      isSaved: options.saveOidcTokens ?? false,
      identity: [lifecycle, certificateIdentity(user)],
      make: (login) => new Keeper(chooseSource(user, ports, login), ports, lifecycle),
    })
  }
  const env = options.env ?? hostEnvironment()
  if (user.externalSigner !== undefined) {
    requireAbility('signing keys')
    const { openSignerKeeper } = await import('./open-signer-keeper.ts')
    return openSignerKeeper(await describeSigner(user.externalSigner, options), {
      env,
      terminal,
      folders: policy.pluginFolders,
      lifecycle,
      identity: [ownEnv(options), policy.pluginFolders],
    })
  }
  if (user.exec === undefined) {
    const keeper = new Keeper(chooseSource(user, ports), ports, lifecycle)
    return { keeper, release: () => keeper.close() }
  }
  const plugin = await describePlugin(user.exec, cluster, caPem, options)
  const identity = execIdentity(plugin, [lifecycle, ownEnv(options), policy.pluginFolders])
  return acquireSharedKeeper(nodeCrypto.digest(identity), () => {
    const programs = nodePrograms(env, policy.pluginFolders)
    const source = execSource(plugin, {
      ...ports,
      programs,
      terminal,
      hostEnv: () => withFolders(env, policy.pluginFolders),
    })
    return new Keeper(source, ports, lifecycle)
  })
}

/** Returns the part of a policy that is about keeping credentials fresh. */
export function lifecycleOf({
  backoffFirstMs,
  backoffLimitMs,
  drainLimitMs,
}: ConnectPolicy): Partial<LifecyclePolicy> {
  return {
    ...(backoffFirstMs !== undefined && { backoffFirstMs }),
    ...(backoffLimitMs !== undefined && { backoffLimitMs }),
    ...(drainLimitMs !== undefined && { drainLimitMs }),
  }
}

/** The certificate in the same user entry is part of the keeper's identity. */
function certificateIdentity({ certificate }: UserIdentity): unknown {
  if (certificate === undefined) return undefined
  const { chain, key } = certificate
  return [chain, key.from === 'data' ? key.data.expose() : key.path]
}

/** Returns the environment if it differs from that of the process; an equal copy does not. */
function ownEnv({ env }: ConnectOptions): ConnectOptions['env'] {
  const sorted = (each: NonNullable<ConnectOptions['env']>): string =>
    JSON.stringify(Object.entries(each).sort())
  return env === undefined || sorted(env) === sorted(hostEnvironment()) ? undefined : env
}

async function describePlugin(
  exec: ExecConfig,
  cluster: Connection['cluster'],
  caPem: string | undefined,
  options: ConnectOptions,
): Promise<ExecPlugin> {
  const { policy = {} } = options
  return {
    exec,
    ...(exec.provideClusterInfo && { cluster: execCluster(cluster, caPem) }),
    ...(await programRules(options)),
    ...(policy.v1alpha1Kind && { alphaKind: policy.v1alpha1Kind }),
    limits: limitsOf(policy),
  }
}

async function describeSigner(
  config: SignerConfig,
  options: ConnectOptions,
): Promise<ExternalSigner> {
  const { policy = {} } = options
  const { stdoutBytes, ...times } = limitsOf(policy)
  const idleMs = policy.signerIdleMs ?? SIGNER_IDLE_MS
  return {
    config,
    ...(await programRules(options)),
    limits: { ...times, outputBytes: stdoutBytes, idleMs },
  }
}

/** Returns the rules for every program that a kubeconfig names. */
async function programRules({
  kuberc,
  env = hostEnvironment(),
  policy = {},
  stdinUnavailable,
}: ConnectOptions): Promise<ProgramRules> {
  return {
    policy: await loadPluginPolicy({ kuberc, env, home: homeFolder(env) || homedir() }),
    ...(policy.pluginEnv && { passEnv: policy.pluginEnv.map(systemName) }),
    ...(stdinUnavailable !== undefined && { stdinUnavailable }),
    ...(policy.refuseWritablePlugins && { refuseWritable: true }),
  }
}

type ProgramRules = Pick<ExecPlugin, 'policy' | 'passEnv' | 'stdinUnavailable' | 'refuseWritable'>

function limitsOf(policy: ConnectPolicy): ExecPlugin['limits'] {
  return {
    timeoutMs: policy.pluginTimeoutMs ?? PLUGIN_TIMEOUT_MS,
    interactiveTimeoutMs: policy.interactiveTimeoutMs ?? INTERACTIVE_TIMEOUT_MS,
    stdoutBytes: policy.pluginOutputBytes ?? PLUGIN_OUTPUT_BYTES,
  }
}

/** Returns the cluster as a plugin receives it, after selection and overrides. */
export function execCluster(
  { name, certificateAuthority, execExtension, proxyUrl, ...cluster }: KnownTarget,
  caPem: string | undefined,
): ExecCluster {
  return {
    ...cluster,
    certificateAuthorityData:
      caPem === undefined ? undefined : Buffer.from(caPem).toString('base64'),
    proxyUrl: proxyUrl?.expose(),
    config: execExtension,
  }
}

type KnownTarget = { [K in keyof ClusterTarget]: ClusterTarget[K] | undefined } & {
  readonly server: string
}
