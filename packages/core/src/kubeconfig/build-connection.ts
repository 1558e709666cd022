import { withoutUndefined } from '../formats/plain-object.ts'
import { normalizeServer } from '../formats/server-url.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import { authProviderError, oidcConfig } from './auth-provider.ts'
import {
  type ClusterTarget,
  type Connection,
  type Impersonation,
  material,
  type UserIdentity,
} from './connection.ts'
import { type ExecConfig, GROUP, isApiVersion, isInteractiveMode } from './exec-config.ts'
import { EXTERNAL_SIGNER, externalSignerConfig } from './external-signer-config.ts'
import {
  type ClusterEntry,
  type ExecEntry,
  hasAnyMethod,
  hasHeaderMethod,
  hasStaticMethod,
  type Kubeconfig,
  NO_USER,
  type UserEntry,
} from './kubeconfig.ts'
import {
  applyClusterOverrides,
  applyUserOverrides,
  type Overrides,
  overrideProblems,
} from './overrides.ts'
import {
  type Paths,
  relativePathProblems,
  resolveClusterPaths,
  resolveOverridePaths,
  resolveUserPaths,
} from './paths.ts'
import { throwProblems } from './problem.ts'
import { chooseNamespace, type Selection, selectEntries } from './select-entries.ts'
import { clusterProblems, userProblems } from './validate.ts'
import { connectionWarnings } from './warnings.ts'

/** The environment in which a kubeconfig is resolved. */
export interface BuildContext {
  readonly paths: Paths
  /** The directory that paths in options, and in entries without a file, are relative to. */
  readonly cwd: string
  /** The namespace of the pod that this process runs in, if any. */
  readonly podNamespace?: string | undefined
  /** Where a configuration was looked for, for the error if there is none. */
  readonly looked?: string | undefined
}

/**
 * Builds a connection from a kubeconfig and options: selects entries, resolves paths, applies options, validates.
 *
 * Only the selected cluster and user are validated. The result shares no object with the kubeconfig or with other
 * connections built from it.
 *
 * @throws {KubeconfigInvalidError} `ERR_KUBECONFIG_INVALID` with all problems of the selected entries.
 * @throws {KubeconfigEmptyError} `ERR_KUBECONFIG_EMPTY` if no cluster is selected.
 */
export function buildConnection(
  config: Kubeconfig,
  overrides: Overrides,
  around: BuildContext,
): Connection {
  return buildSelectedConnection(selectEntries(config, overrides, around.looked), overrides, around)
}

/** Builds a connection from entries that are already selected, as in a pod. */
export function buildSelectedConnection(
  selection: Selection,
  overrides: Overrides,
  { paths, cwd, podNamespace }: BuildContext,
): Connection {
  const options = resolveOverridePaths(overrides, cwd, paths)
  const entry = resolveUserPaths(selection.user, cwd, paths)
  const user = applyUserOverrides(entry, options)
  const cluster = applyClusterOverrides(resolveClusterPaths(selection.cluster, cwd, paths), options)
  const { context } = selection
  const { namespace, problems } = chooseNamespace({
    option: overrides.namespace,
    context,
    pod: podNamespace,
  })
  throwProblems([
    ...overrideProblems(overrides, entry),
    ...clusterProblems(cluster),
    ...userProblems(user),
    ...relativePathProblems(cluster, user, paths),
    ...problems,
  ])
  const target = clusterTarget(cluster, user)
  const scheme = target.server.startsWith('https:') ? 'https' : 'http'
  if (scheme === 'https') rejectAuthProvider(user)
  return withoutUndefined<Connection>({
    context: context?.name,
    namespace,
    cluster: target,
    user: userIdentity(user, scheme),
    warnings: [
      ...selection.warnings,
      ...connectionWarnings({ entry, user, cluster, server: target.server, overrides }),
    ],
    origin: selection.origin,
  })
}

/** Supported values of `auth-provider.name`. */
const SUPPORTED_PROVIDERS: readonly string[] = ['oidc', EXTERNAL_SIGNER]

function rejectAuthProvider(user: UserEntry): void {
  // As in client-go, a method that sets the Authorization header takes precedence over a provider.
  if (user.authProvider === undefined || hasHeaderMethod(user)) return
  if (SUPPORTED_PROVIDERS.includes(user.authProvider.name)) return
  throw authProviderError(user, user.authProvider)
}

/** Converts a validated cluster entry. The extension for plugins is copied, so that connections do not share it. */
export function clusterTarget(cluster: ClusterEntry, user: UserEntry): ClusterTarget {
  const { file, inline, extensions, certificateAuthority, certificateAuthorityData, ...fields } =
    cluster
  return withoutUndefined<ClusterTarget>({
    ...fields,
    name: cluster.name || undefined,
    server: normalizeServer(cluster.server ?? '', defaultScheme(cluster, user)),
    certificateAuthority: material(certificateAuthority, certificateAuthorityData),
    execExtension: cloneExtension(extensions.get(`${GROUP}/exec`)),
  })
}

/** Calls `structuredClone` only if there is a value, because it is slow. */
function cloneExtension(extension: unknown): unknown {
  return extension === undefined || extension === null ? undefined : structuredClone(extension)
}

/** An address without a scheme uses https if any setting needs it; client-go drops the credentials instead. */
function defaultScheme(cluster: ClusterEntry, user: UserEntry): 'http' | 'https' {
  const needsTls =
    cluster.insecureSkipTlsVerify ||
    cluster.certificateAuthority !== undefined ||
    cluster.certificateAuthorityData !== undefined ||
    hasAnyMethod(user)
  return needsTls ? 'https' : 'http'
}

/**
 * Converts a validated user entry into an identity.
 *
 * As in client-go, no credential is sent over plain http, only impersonation, and any static method takes precedence
 * over a plugin. An inline token beside a token file is kept: it is used until the file has been read.
 */
export function userIdentity(user: UserEntry, scheme: 'http' | 'https'): UserIdentity {
  return withoutUndefined<UserIdentity>({
    name: user.name || undefined,
    impersonate: impersonationOf(user),
    ...(scheme === 'https' && methods(user)),
  })
}

function methods(user: UserEntry) {
  const { username, password = new Secret('') } = user
  return {
    token: user.token,
    tokenFile: user.tokenFile,
    basic: username === undefined ? undefined : { username, password },
    certificate: certificate(user),
    exec: user.exec === undefined || hasStaticMethod(user) ? undefined : execConfig(user.exec),
    // As in client-go, a method that sets the Authorization header takes precedence over a provider.
    oidc: hasHeaderMethod(user) ? undefined : oidcConfig(user),
    // A connection has only one client certificate: as with a plugin, the one in the entry takes precedence.
    externalSigner: hasStaticMethod(user) ? undefined : externalSignerConfig(user),
  }
}

function certificate(user: UserEntry): UserIdentity['certificate'] | undefined {
  const chain = material(user.clientCertificate, user.clientCertificateData)
  const key = material(user.clientKey, user.clientKeyData)
  return chain === undefined || key === undefined ? undefined : { chain, key }
}

function execConfig(exec: ExecEntry): ExecConfig {
  const { apiVersion = '', command, interactiveMode = 'IfAvailable', installHint } = exec
  if (command === undefined || !isApiVersion(apiVersion) || !isInteractiveMode(interactiveMode)) {
    throw new TypeError('exec stanza was not validated')
  }
  return withoutUndefined<ExecConfig>({
    apiVersion,
    command,
    args: [...exec.args],
    env: exec.env.map(({ name = '', value }) => ({ name, value })),
    installHint: installHint === undefined ? undefined : showControlCharacters(installHint),
    provideClusterInfo: exec.provideClusterInfo,
    interactiveMode,
  })
}

/** Returns the impersonation that a user entry configures. */
export function impersonationOf(user: UserEntry): Impersonation | undefined {
  if (user.as === undefined) return undefined
  const extra = [...user.asUserExtra].map(([key, values]) => [key, [...values]] as const)
  return withoutUndefined<Impersonation>({
    user: user.as,
    uid: user.asUid,
    groups: [...user.asGroups],
    extra: Object.fromEntries(extra),
  })
}

/**
 * Returns the impersonation that options configure, if the user does not come from a kubeconfig.
 *
 * @throws {KubeconfigInvalidError} `ERR_KUBECONFIG_INVALID` if there is a uid, groups or extra values without a user.
 */
export function impersonationFromOptions(overrides: Overrides): Impersonation | undefined {
  const { as, asUid, asGroups, asUserExtra } = overrides
  const options = { as, asUid, asGroups, asUserExtra }
  throwProblems(overrideProblems(options, NO_USER))
  return impersonationOf(applyUserOverrides(NO_USER, options))
}
