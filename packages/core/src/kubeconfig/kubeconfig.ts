import type { Secret } from '../secret/secret.ts'

/** One or several kubeconfig files as plain, checked data; nothing is selected or resolved yet. */
export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, ClusterEntry>
  readonly users: ReadonlyMap<string, UserEntry>
  readonly contexts: ReadonlyMap<string, ContextEntry>
  readonly currentContext: string | undefined
  readonly extensions: Extensions
  /** The files it was read from, in order of precedence. */
  readonly files: readonly string[]
}

/** Data of other programs, by name, as it stood in the file. */
export type Extensions = ReadonlyMap<string, unknown>

/** What every named entry has in common. */
interface Entry {
  readonly name: string
  /** Absolute path of the file it stands in; undefined for entries made from flags or in a pod. */
  readonly file: string | undefined
  readonly extensions: Extensions
}

/** An entry of `clusters`, as written: paths may be relative, fields may contradict each other. */
export interface ClusterEntry extends Entry {
  readonly server: string | undefined
  readonly tlsServerName: string | undefined
  readonly insecureSkipTlsVerify: boolean
  readonly certificateAuthority: string | undefined
  /** PEM, already decoded from base64. */
  readonly certificateAuthorityData: string | undefined
  readonly proxyUrl: Secret | undefined
  readonly disableCompression: boolean
}

/** An entry of `users`, as written. */
export interface UserEntry extends Entry {
  readonly token: Secret | undefined
  readonly tokenFile: string | undefined
  readonly username: string | undefined
  readonly password: Secret | undefined
  readonly clientCertificate: string | undefined
  readonly clientCertificateData: string | undefined
  readonly clientKey: string | undefined
  readonly clientKeyData: Secret | undefined
  readonly as: string | undefined
  readonly asUid: string | undefined
  readonly asGroups: readonly string[]
  readonly asUserExtra: ReadonlyMap<string, readonly string[]>
  readonly authProvider: AuthProviderEntry | undefined
  readonly exec: ExecEntry | undefined
}

/** The `exec` stanza before its fields are checked against each other. */
export interface ExecEntry {
  readonly apiVersion: string | undefined
  readonly command: string | undefined
  readonly args: readonly Secret[]
  readonly env: readonly { readonly name: string | undefined; readonly value: Secret }[]
  readonly installHint: string | undefined
  readonly provideClusterInfo: boolean
  readonly interactiveMode: string | undefined
}

/** The `auth-provider` stanza; its values are secrets because tokens stand among them. */
export interface AuthProviderEntry {
  readonly name: string
  readonly config: ReadonlyMap<string, Secret>
  /** What is wrong with it, for who uses it; then not all of it was read. */
  readonly problem?: Error
}

/** An entry of `contexts`. */
export interface ContextEntry extends Entry {
  readonly cluster: string | undefined
  readonly user: string | undefined
  readonly namespace: string | undefined
}

/** A cluster entry in which nothing is set. */
export const NO_CLUSTER: ClusterEntry = {
  name: '',
  file: undefined,
  extensions: new Map(),
  server: undefined,
  tlsServerName: undefined,
  insecureSkipTlsVerify: false,
  certificateAuthority: undefined,
  certificateAuthorityData: undefined,
  proxyUrl: undefined,
  disableCompression: false,
}

/** A user entry in which nothing is set: the anonymous user. */
export const NO_USER: UserEntry = {
  name: '',
  file: undefined,
  extensions: new Map(),
  token: undefined,
  tokenFile: undefined,
  username: undefined,
  password: undefined,
  clientCertificate: undefined,
  clientCertificateData: undefined,
  clientKey: undefined,
  clientKeyData: undefined,
  as: undefined,
  asUid: undefined,
  asGroups: [],
  asUserExtra: new Map(),
  authProvider: undefined,
  exec: undefined,
}

/** Whether something is configured that fills the Authorization header without a plugin. */
export function hasHeaderMethod(user: UserEntry): boolean {
  return [user.token, user.tokenFile, user.username].some((method) => method !== undefined)
}

/** Whether a client certificate is configured, with or without its key. */
export function hasCertificate(user: UserEntry): boolean {
  return user.clientCertificate !== undefined || user.clientCertificateData !== undefined
}

/** Whether a client key is configured. */
export function hasKey(user: UserEntry): boolean {
  return user.clientKey !== undefined || user.clientKeyData !== undefined
}

/** Whether something is configured that takes precedence over a plugin: client-go's rule. */
export function hasStaticMethod(user: UserEntry): boolean {
  return hasHeaderMethod(user) || (hasCertificate(user) && hasKey(user))
}

/** Whether the user is anything but anonymous. */
export function hasAnyMethod(user: UserEntry): boolean {
  return (
    hasHeaderMethod(user) ||
    hasCertificate(user) ||
    user.exec !== undefined ||
    user.authProvider !== undefined
  )
}
