import type { Secret } from '../secret/secret.ts'
import { createEmptyEntry } from './field-reader.ts'
import { CLUSTER_FIELDS, type EntryOf, USER_FIELDS } from './fields.ts'
import type { Inline } from './inline-kubeconfig.ts'

/** One or several kubeconfig files as parsed data. Entries are not selected, resolved or validated yet. */
export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, ClusterEntry>
  readonly users: ReadonlyMap<string, UserEntry>
  readonly contexts: ReadonlyMap<string, ContextEntry>
  readonly currentContext: string | undefined
  readonly extensions: Extensions
  /** The files it was read from, in order of precedence. */
  readonly files: readonly string[]
  /** Set if it was passed as text or object; then `files` is empty. */
  readonly inline?: Inline
}

/** Data of other programs by name, unchanged. */
export type Extensions = ReadonlyMap<string, unknown>

/** What all entries have in common. */
interface Entry {
  readonly name: string
  /** Absolute path of its file; undefined for entries that come from options or from a pod. */
  readonly file: string | undefined
  /** Set if its kubeconfig was passed as text or object. */
  readonly inline?: Inline
  readonly extensions: Extensions
}

/** An entry of `clusters` as written: paths may be relative, and fields may contradict each other. */
export interface ClusterEntry extends Entry, EntryOf<typeof CLUSTER_FIELDS> {}

/** An entry of `users` as written. */
export interface UserEntry extends Entry, EntryOf<typeof USER_FIELDS> {
  readonly authProvider: AuthProviderEntry | undefined
  readonly exec: ExecEntry | undefined
}

/** The `exec` stanza before validation. */
export interface ExecEntry {
  readonly apiVersion: string | undefined
  readonly command: string | undefined
  readonly args: readonly Secret[]
  readonly env: readonly { readonly name: string | undefined; readonly value: Secret }[]
  readonly installHint: string | undefined
  readonly provideClusterInfo: boolean
  readonly interactiveMode: string | undefined
}

/** The `auth-provider` stanza; its values are secrets because some of them are tokens. */
export interface AuthProviderEntry {
  readonly name: string
  readonly config: ReadonlyMap<string, Secret>
  /** The error to throw if this user is selected; the config is then incomplete. */
  readonly problem?: Error
}

/** An entry of `contexts`. */
export interface ContextEntry extends Entry {
  readonly cluster: string | undefined
  readonly user: string | undefined
  readonly namespace: string | undefined
}

const UNNAMED: Entry = { name: '', file: undefined, extensions: new Map() }

/** A cluster entry without any field. */
export const NO_CLUSTER: ClusterEntry = { ...UNNAMED, ...createEmptyEntry(CLUSTER_FIELDS) }

/** A user entry without any field: the anonymous user. */
export const NO_USER: UserEntry = {
  ...UNNAMED,
  ...createEmptyEntry(USER_FIELDS),
  authProvider: undefined,
  exec: undefined,
}

/** Returns whether a static method that sets the Authorization header is configured. */
export function hasHeaderMethod(user: UserEntry): boolean {
  return [user.token, user.tokenFile, user.username].some((method) => method !== undefined)
}

/** Returns whether a client certificate is configured, with or without its key. */
export function hasCertificate(user: UserEntry): boolean {
  return user.clientCertificate !== undefined || user.clientCertificateData !== undefined
}

/** Returns whether a client key is configured. */
export function hasKey(user: UserEntry): boolean {
  return user.clientKey !== undefined || user.clientKeyData !== undefined
}

/** Returns whether a static method is configured, which takes precedence over a plugin, as in client-go. */
export function hasStaticMethod(user: UserEntry): boolean {
  return hasHeaderMethod(user) || (hasCertificate(user) && hasKey(user))
}

/** Returns whether any authentication method is configured. */
export function hasAnyMethod(user: UserEntry): boolean {
  return (
    hasHeaderMethod(user) ||
    hasCertificate(user) ||
    user.exec !== undefined ||
    user.authProvider !== undefined
  )
}

/**
 * Merges kubeconfigs in order of precedence, as kubectl does: the first entry of each name wins, and so does the first
 * `current-context` that is set. Entries of the same name are not merged.
 */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return {
    clusters: firstOfEach(configs.map((config) => config.clusters)),
    users: firstOfEach(configs.map((config) => config.users)),
    contexts: firstOfEach(configs.map((config) => config.contexts)),
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    extensions: firstOfEach(configs.map((config) => config.extensions)),
    files: configs.flatMap((config) => config.files),
  }
}

function firstOfEach<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  const merged = new Map<string, T>()
  for (const map of maps) {
    for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry)
  }
  return merged
}
