import process from 'node:process'
import type { Environment } from '../formats/plain-object.ts'
import { buildConnection, impersonationOf } from '../kubeconfig/build-connection.ts'
import type { Connection, Impersonation } from '../kubeconfig/connection.ts'
import { EXTERNAL_SIGNER } from '../kubeconfig/external-signer-config.ts'
import { CLUSTER_FIELDS, type FieldTable, USER_FIELDS } from '../kubeconfig/fields.ts'
import type { KubeconfigOption } from '../kubeconfig/inline-kubeconfig.ts'
import type { ClusterEntry, Kubeconfig, UserEntry } from '../kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../kubeconfig/parse-kubeconfig.ts'
import { hostEnvironment } from '../node/environment.ts'
import { NODE_PATHS } from '../node/load-kubeconfig.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import {
  type EntryPair,
  findOriginalEntries,
  readAvailableKubeconfigs,
} from './original-entries.ts'

/** Where to look up fields that client-node drops when it reads a kubeconfig. */
export interface LookupPlaces {
  /** By default KUBECONFIG or `~/.kube/config`. */
  readonly kubeconfig?: KubeconfigOption | undefined
  readonly env?: Environment | undefined
}

/**
 * Makes a connection from the selection of a KubeConfig, completed from the files it was read from.
 *
 * @throws {CredentialError} If the configuration is invalid; the message names the entry.
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

/** Returns whom the user of a KubeConfig impersonates, with the groups that client-node drops. */
export async function findImpersonation(
  selection: Selection,
  places: LookupPlaces,
): Promise<Impersonation | undefined> {
  if (!selection.user?.impersonateUser) return undefined
  const { user } = await lookUp(selection, places, process.cwd())
  return user && impersonationOf(user)
}

interface LookedUp extends EntryPair {
  readonly given: Kubeconfig
  /** The files in which an entry was found. */
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
  const found = findOriginalEntries(
    { cluster, user },
    await readAvailableKubeconfigs({ kubeconfig, env }, cwd),
    cwd,
  )
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
 * Turns client-node's entries back into a kubeconfig with one context, and parses it like any other.
 *
 * @throws {KubeconfigSyntaxError} `ERR_KUBECONFIG_SYNTAX` with entry and field.
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
  // In a pod client-node reads it from a file and keeps the line break.
  return { cluster, user, namespace: namespace?.trim() }
}

/** Returns the fields that client-node keeps of an entry, under the keys of a kubeconfig. */
function keptFields(table: FieldTable, entry: object): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...entry }
  const kept = Object.values(table).map(({ key, kind, clientNode = '' }) => {
    const value = values[clientNode]
    return [key, kind === 'boolean' ? value === true : value]
  })
  return Object.fromEntries(kept)
}

/** client-node also reads a token file and a plugin from the config of an auth provider, whatever its name. */
function methodFields(user: UserLike): Record<string, unknown> {
  const { config } = readProvider(user)
  if (user.exec) return { exec: user.exec }
  if (config['exec']) return { exec: config['exec'] }
  if (config['tokenFile']) return user.token ? {} : { tokenFile: config['tokenFile'] }
  return { 'auth-provider': user.authProvider }
}

/** Resolves contradicting fields of a cluster in client-node's order, because programs rely on it. */
export function settleCluster(entry: ClusterEntry): ClusterEntry {
  if (entry.insecureSkipTlsVerify) {
    return { ...entry, certificateAuthority: undefined, certificateAuthorityData: undefined }
  }
  if (entry.certificateAuthority === undefined) return entry
  return { ...entry, certificateAuthorityData: undefined }
}

/** Does the same for a user: a file takes precedence over data, a token over basic, a plugin over a provider. */
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
 * Whether a user authenticates in a way that kubecred does not support, so that client-node must do it.
 *
 * client-node tries its own providers first and those that were added with `addAuthenticator` last; so does this.
 */
export function usesOtherAuthenticator(kc: ReadableKubeConfig, user: UserLike): boolean {
  const { name, config } = readProvider(user)
  if (name === 'azure' || name === 'gcp') return true
  const isOurs =
    Boolean(user.exec || config['tokenFile'] || config['exec']) ||
    name === 'oidc' ||
    name === EXTERNAL_SIGNER
  return !isOurs && customAuthenticators(kc).some((one) => one.isAuthProvider?.(user) === true)
}

/** Reads the `auth-provider` stanza, which client-node does not check. */
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

/** Reads a property that is private in client-node's types: there is no other way to know them. */
function customAuthenticators(kc: ReadableKubeConfig): readonly AuthenticatorLike[] {
  const { custom_authenticators: custom } = kc as { custom_authenticators?: unknown }
  return Array.isArray(custom) ? (custom as AuthenticatorLike[]) : []
}

/** A copy of a KubeConfig's current selection: programs change theirs while requests are in flight. */
export interface Selection {
  /** Equal for equal selections. A digest, because they hold secrets. */
  readonly key: string
  readonly currentContext: string | undefined
  readonly context: ContextLike | undefined
  readonly cluster: ClusterLike | undefined
  readonly user: UserLike | undefined
}

/** Serialises the current selection of a KubeConfig: equal text for equal selections. It holds secrets. */
export function describeSelection(kc: ReadableKubeConfig): string {
  const name = kc.getCurrentContext()
  const parts = [name, kc.getContextObject(name), kc.getCurrentCluster(), kc.getCurrentUser()]
  return JSON.stringify(parts)
}

/** Parses what `describeSelection()` returned. */
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
 * The methods of a `KubeConfig` of @kubernetes/client-node that kubecred calls, in any version.
 *
 * Declared here, because the type of one version would not fit users of another.
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

/** The fields of a table that client-node keeps, under its names. */
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
