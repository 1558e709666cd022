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
import { describeOddities } from './warnings.ts'

/** What the entries of a kubeconfig are read against. */
export interface Surroundings {
  readonly paths: Paths
  /** The folder that flags, and entries without a file, are relative to. */
  readonly cwd: string
  /** The namespace of the pod we run in, where there is one. */
  readonly podNamespace?: string | undefined
  /** Where configuration was looked for, for the error that says there is none. */
  readonly looked?: string | undefined
}

/**
 * Makes a connection from a kubeconfig and flags: selects, resolves paths, applies flags, checks, converts.
 *
 * Only the selected cluster and user are checked; others may be broken. The result shares nothing with the
 * kubeconfig or with other connections made from it.
 *
 * @throws {KubeconfigInvalidError} With all problems of the selected entries.
 * @throws {KubeconfigEmptyError} When nothing says which cluster.
 */
export function buildConnection(
  config: Kubeconfig,
  overrides: Overrides,
  around: Surroundings,
): Connection {
  return buildSelectedConnection(selectEntries(config, overrides, around.looked), overrides, around)
}

/** Makes a connection from entries that are already selected, as in a pod. */
export function buildSelectedConnection(
  selection: Selection,
  overrides: Overrides,
  { paths, cwd, podNamespace }: Surroundings,
): Connection {
  const flags = resolveOverridePaths(overrides, cwd, paths)
  const entry = resolveUserPaths(selection.user, cwd, paths)
  const user = applyUserOverrides(entry, flags)
  const cluster = applyClusterOverrides(resolveClusterPaths(selection.cluster, cwd, paths), flags)
  const { context } = selection
  const { namespace, problems } = chooseNamespace({
    flag: overrides.namespace,
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
  if (scheme === 'https') refuseAuthProvider(user)
  return withoutUndefined<Connection>({
    context: context?.name,
    namespace,
    cluster: target,
    user: userIdentity(user, scheme),
    warnings: [
      ...selection.warnings,
      ...describeOddities({ entry, user, cluster, server: target.server, overrides }),
    ],
    origin: selection.origin,
  })
}

/** Providers that are sources here. */
const SUPPORTED: readonly string[] = ['oidc', EXTERNAL_SIGNER]

function refuseAuthProvider(user: UserEntry): void {
  // A provider yields to an Authorization header, so that a static method makes it unused.
  if (user.authProvider === undefined || hasHeaderMethod(user)) return
  if (SUPPORTED.includes(user.authProvider.name)) return
  throw authProviderError(user, user.authProvider)
}

/** Converts a checked cluster entry. What plugins may see of it is copied, so that no two connections share it. */
export function clusterTarget(cluster: ClusterEntry, user: UserEntry): ClusterTarget {
  const { file, inline, extensions, certificateAuthority, certificateAuthorityData, ...fields } =
    cluster
  return withoutUndefined<ClusterTarget>({
    ...fields,
    name: cluster.name || undefined,
    server: normalizeServer(cluster.server ?? '', assumedScheme(cluster, user)),
    certificateAuthority: material(certificateAuthority, certificateAuthorityData),
    execExtension: copyOf(extensions.get(`${GROUP}/exec`)),
  })
}

/** `structuredClone` takes its time, also for nothing. */
function copyOf(extension: unknown): unknown {
  return extension === undefined || extension === null ? undefined : structuredClone(extension)
}

/** An address without a scheme means https as soon as anything needs it; client-go drops the credentials instead. */
function assumedScheme(cluster: ClusterEntry, user: UserEntry): 'http' | 'https' {
  const needsTls =
    cluster.insecureSkipTlsVerify ||
    cluster.certificateAuthority !== undefined ||
    cluster.certificateAuthorityData !== undefined ||
    hasAnyMethod(user)
  return needsTls ? 'https' : 'http'
}

/**
 * Converts a checked user entry into what authenticates requests.
 *
 * Over plain http no credential is ever sent, only impersonation, as in client-go. Any static method leaves the
 * plugin out. An inline token beside a token file stays: it serves until the file could be read.
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
    // A provider yields to an Authorization header, so that a static method makes it unused.
    oidc: hasHeaderMethod(user) ? undefined : oidcConfig(user),
    // Two certificates contradict each other: as with a plugin, the one in the entry is used.
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
    throw new TypeError('exec was not checked before')
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

/** Whom a user entry asks to act as. */
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
 * Whom options ask to act as, where no kubeconfig says who the user is.
 *
 * @throws {CredentialError} They ask for a uid, groups or extra values without a user.
 */
export function impersonationFromOptions(overrides: Overrides): Impersonation | undefined {
  const { as, asUid, asGroups, asUserExtra } = overrides
  const asked = { as, asUid, asGroups, asUserExtra }
  throwProblems(overrideProblems(asked, NO_USER))
  return impersonationOf(applyUserOverrides(NO_USER, asked))
}
