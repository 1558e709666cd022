import process from 'node:process'
import type { Environment } from '../formats/plain-object.ts'
import { buildConnection, impersonationOf } from '../kubeconfig/build-connection.ts'
import type { Connection, Impersonation } from '../kubeconfig/connection.ts'
import { EXTERNAL_SIGNER } from '../kubeconfig/external-signer-config.ts'
import { CLUSTER_FIELDS, type FieldTable, USER_FIELDS } from '../kubeconfig/fields.ts'
import type { ClusterEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../kubeconfig/parse-kubeconfig.ts'
import { hostEnvironment } from '../node/environment.ts'
import { NODE_PATHS } from '../node/load-kubeconfig.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { type Found, findEntries, readFiles } from './original-entries.ts'

/** Where to look up what client-node dropped when it read its files. */
export interface LookupPlaces {
  /** KUBECONFIG or `~/.kube/config` unless given. */
  readonly kubeconfig?: string | readonly string[] | undefined
  readonly env?: Environment | undefined
}

/**
 * Makes a connection of ours from what a KubeConfig says, completed from the files it was read from.
 *
 * @throws {CredentialError} Names entry and remedy.
 */
export async function makeConnection(
  selection: Selection,
  places: LookupPlaces,
): Promise<Connection> {
  const cwd = process.cwd()
  const { given, cluster, user, files } = await lookUp(selection, places, cwd)
  const config: Kubeconfig = {
    ...given,
    clusters: mapOf(cluster && settleCluster(cluster)),
    users: mapOf(user && settleUser(user)),
    files,
  }
  return buildConnection(
    config,
    {},
    {
      paths: NODE_PATHS,
      cwd,
      looked: 'the KubeConfig has no current context',
    },
  )
}

/** Whom the user of a KubeConfig is to act as, with the groups that client-node dropped, whoever the user is. */
export async function findImpersonation(
  selection: Selection,
  places: LookupPlaces,
): Promise<Impersonation | undefined> {
  if (!selection.user?.impersonateUser) return undefined
  const { user } = await lookUp(selection, places, process.cwd())
  return user && impersonationOf(user)
}

interface LookedUp extends Found {
  readonly given: Kubeconfig
  /** Where something was found. */
  readonly files: readonly string[]
}

async function lookUp(
  selection: Selection,
  { kubeconfig, env = hostEnvironment() }: LookupPlaces,
  cwd: string,
): Promise<LookedUp> {
  const given = givenEntries(selection)
  const [cluster] = given.clusters.values()
  const [user] = given.users.values()
  const found = findEntries({ cluster, user }, await readFiles({ kubeconfig, env }, cwd), cwd)
  const files = [found.cluster?.file, found.user?.file].filter((file) => file !== undefined)
  return {
    given,
    cluster: found.cluster ?? cluster,
    user: found.user ?? user,
    files: [...new Set(files)],
  }
}

function mapOf<T extends { readonly name: string }>(entry: T | undefined): ReadonlyMap<string, T> {
  return new Map(entry === undefined ? [] : [[entry.name, entry]])
}

/**
 * Turns what client-node keeps back into a kubeconfig with one context, and reads it as we read any other.
 *
 * @throws {KubeconfigSyntaxError} Names entry and field.
 */
export function givenEntries({ currentContext, context, cluster, user }: Selection): Kubeconfig {
  return parseKubeconfig({
    'current-context': currentContext,
    contexts: context && [{ name: currentContext, context: contextFields(context) }],
    clusters: cluster && [{ name: context?.cluster, cluster: keptFields(CLUSTER_FIELDS, cluster) }],
    users: user && [
      {
        name: context?.user,
        user: { ...keptFields(USER_FIELDS, user), ...methodFields(user) },
      },
    ],
  })
}

function contextFields({ cluster, user, namespace }: ContextLike): unknown {
  // In a pod client-node takes it from a file, with whatever ends its line.
  return { cluster, user, namespace: namespace?.trim() }
}

/** What client-node keeps of an entry, under the keys of a kubeconfig. */
function keptFields(table: FieldTable, entry: object): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...entry }
  const kept = Object.values(table).map(({ key, kind, clientNode = '' }) => {
    const value = values[clientNode]
    return [key, kind === 'boolean' ? value === true : value]
  })
  return Object.fromEntries(kept)
}

/** client-node also takes a token file and a plugin from the settings of a provider, whatever its name. */
function methodFields(user: UserLike): Record<string, unknown> {
  const { config } = readProvider(user)
  if (user.exec) return { exec: user.exec }
  if (config['exec']) return { exec: config['exec'] }
  if (config['tokenFile']) return user.token ? {} : { tokenFile: config['tokenFile'] }
  return { 'auth-provider': user.authProvider }
}

/** Where the fields of a cluster contradict each other, client-node has an order, and programs rely on it. */
export function settleCluster(entry: ClusterEntry): ClusterEntry {
  if (entry.insecureSkipTlsVerify) {
    return { ...entry, certificateAuthority: undefined, certificateAuthorityData: undefined }
  }
  if (entry.certificateAuthority === undefined) return entry
  return { ...entry, certificateAuthorityData: undefined }
}

/** The same for a user: a file wins over data, a token over basic, a plugin over a provider. */
export function settleUser(entry: UserEntry): UserEntry {
  return {
    ...entry,
    ...(entry.clientCertificate !== undefined && { clientCertificateData: undefined }),
    ...(entry.clientKey !== undefined && { clientKeyData: undefined }),
    ...(entry.token !== undefined && { username: undefined, password: undefined }),
    ...(entry.exec !== undefined && { authProvider: undefined }),
  }
}

/**
 * Whether a user authenticates in a way that we do not know: then client-node does it, as before.
 *
 * client-node asks its own providers first and those that were added with `addAuthenticator` last; so do we.
 */
export function isForeign(kc: ReadableKubeConfig, user: UserLike): boolean {
  const { name, config } = readProvider(user)
  if (name === 'azure' || name === 'gcp') return true
  const isOurs =
    Boolean(user.exec || config['tokenFile'] || config['exec']) ||
    name === 'oidc' ||
    name === EXTERNAL_SIGNER
  return !isOurs && customAuthenticators(kc).some((one) => one.isAuthProvider?.(user) === true)
}

/** The stanza `auth-provider`, of which client-node checks nothing. */
export function readProvider({ authProvider }: UserLike): {
  readonly name: string | undefined
  readonly config: Readonly<Record<string, unknown>>
} {
  const { name, config } = asRecord(authProvider)
  return { name: typeof name === 'string' ? name : undefined, config: asRecord(config) }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

interface AuthenticatorLike {
  isAuthProvider?(user: UserLike): unknown
}

/** Private in client-node's types, and the only place that knows them. */
function customAuthenticators(kc: ReadableKubeConfig): readonly AuthenticatorLike[] {
  const { custom_authenticators: custom } = kc as { custom_authenticators?: unknown }
  return Array.isArray(custom) ? (custom as AuthenticatorLike[]) : []
}

/** What a KubeConfig says at one moment: a copy, because programs change theirs while requests are on the way. */
export interface Selection {
  /** Equal for selections that mean the same. A digest, because they hold secrets. */
  readonly key: string
  readonly currentContext: string | undefined
  readonly context: ContextLike | undefined
  readonly cluster: ClusterLike | undefined
  readonly user: UserLike | undefined
}

/** What a KubeConfig says now, as text that is the same while it says the same. It holds secrets. */
export function describeSelection(kc: ReadableKubeConfig): string {
  const name = kc.getCurrentContext()
  const parts = [name, kc.getContextObject(name), kc.getCurrentCluster(), kc.getCurrentUser()]
  return JSON.stringify(parts)
}

/** Makes a selection of its text. */
export function parseSelection(text: string): Selection {
  const [name, context, cluster, user] = JSON.parse(text) as [
    string | null,
    ContextLike | null,
    ClusterLike | null,
    UserLike | null,
  ]
  return {
    key: nodeCrypto.digest(text),
    currentContext: name ?? undefined,
    context: context ?? undefined,
    cluster: cluster ?? undefined,
    user: user ?? undefined,
  }
}

/**
 * What we read of a `KubeConfig` of @kubernetes/client-node, whatever its version.
 *
 * Written down here, because a type of one of its versions would be the wrong one for the users of another.
 */
export interface ReadableKubeConfig {
  getCurrentContext(): string
  getContextObject(name: string): ContextLike | null
  getCurrentCluster(): ClusterLike | null
  getCurrentUser(): UserLike | null
}

/** A context as client-node keeps it. */
export interface ContextLike {
  readonly name: string
  readonly cluster: string
  readonly user?: string
  readonly namespace?: string
}

/** What client-node keeps of the fields of a table, under its own names. */
type KeptOf<T extends FieldTable> = {
  readonly [N in keyof T as T[N] extends { readonly clientNode: infer Name extends string }
    ? Name
    : never]?: T[N]['kind'] extends 'boolean' ? boolean : string
}

/** A cluster entry as client-node keeps it. */
export interface ClusterLike extends KeptOf<typeof CLUSTER_FIELDS> {
  readonly name: string
  readonly server: string
}

/** A user entry as client-node keeps it. */
export interface UserLike extends KeptOf<typeof USER_FIELDS> {
  readonly name: string
  readonly exec?: unknown
  readonly authProvider?: unknown
}
