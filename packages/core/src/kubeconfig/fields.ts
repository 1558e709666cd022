import type { Secret } from '../secret/secret.ts'

/**
 * Every field of a cluster entry, under the name it has here and in client-go's order.
 *
 * All else follows from a line in this table: the field is read from kubeconfigs, is part of `ClusterEntry`,
 * `ClusterTarget` and, unless it is a path, of what plugins get. Only rules that connect fields are written as code.
 */
export const CLUSTER_FIELDS = {
  server: { key: 'server', kind: 'text', clientNode: 'server', option: true },
  tlsServerName: {
    key: 'tls-server-name',
    kind: 'text',
    clientNode: 'tlsServerName',
    option: true,
  },
  insecureSkipTlsVerify: {
    key: 'insecure-skip-tls-verify',
    kind: 'boolean',
    clientNode: 'skipTLSVerify',
    option: true,
  },
  certificateAuthority: {
    key: 'certificate-authority',
    kind: 'path',
    clientNode: 'caFile',
    option: true,
  },
  certificateAuthorityData: {
    key: 'certificate-authority-data',
    kind: 'data',
    clientNode: 'caData',
    option: true,
  },
  /** It may carry a password. */
  proxyUrl: { key: 'proxy-url', kind: 'secret', clientNode: 'proxyUrl', option: true },
  disableCompression: { key: 'disable-compression', kind: 'boolean', option: true },
} as const satisfies FieldTable

/** Every field of a user entry but the stanzas `exec` and `auth-provider`, which have fields of their own. */
export const USER_FIELDS = {
  token: { key: 'token', kind: 'secret', clientNode: 'token', option: true },
  tokenFile: { key: 'tokenFile', kind: 'path' },
  username: { key: 'username', kind: 'text', clientNode: 'username', option: true },
  password: { key: 'password', kind: 'secret', clientNode: 'password', option: true },
  clientCertificate: {
    key: 'client-certificate',
    kind: 'path',
    clientNode: 'certFile',
    option: true,
  },
  clientCertificateData: { key: 'client-certificate-data', kind: 'data', clientNode: 'certData' },
  clientKey: { key: 'client-key', kind: 'path', clientNode: 'keyFile', option: true },
  clientKeyData: { key: 'client-key-data', kind: 'secret data', clientNode: 'keyData' },
  as: { key: 'as', kind: 'text', clientNode: 'impersonateUser', option: true },
  asUid: { key: 'as-uid', kind: 'text', option: true },
  asGroups: { key: 'as-groups', kind: 'list', option: true, flag: 'as-group' },
  asUserExtra: { key: 'as-user-extra', kind: 'map', option: true },
} as const satisfies FieldTable

/** A table of fields, under the names they have here. */
export type FieldTable = Readonly<Record<string, Field>>

/** A field of a cluster or user entry. */
export interface Field {
  /** Its key in a kubeconfig; for clusters also in the `spec.cluster` of exec info. */
  readonly key: string
  readonly kind: Kind
  /** Its name in the objects of @kubernetes/client-node; undefined if client-node drops it. */
  readonly clientNode?: string
  /** Set if it is an option of `connect()`, under the name it has here, and a flag of the program; data is no flag. */
  readonly option?: true
  /** The name of the flag; the key by default. */
  readonly flag?: string
}

/** What kind of value a field has. */
export type Kind = keyof EntryValues

/** What an entry holds for each kind of field. Text that is empty counts as absent. */
export interface EntryValues {
  text: string | undefined
  /** Of a file; a relative one starts at the folder of the kubeconfig. */
  path: string | undefined
  /** Text, in the kubeconfig as base64. */
  data: string | undefined
  secret: Secret | undefined
  'secret data': Secret | undefined
  boolean: boolean
  list: readonly string[]
  map: ReadonlyMap<string, readonly string[]>
}

/** What programs give for each kind of field. */
export interface PlainValues {
  text: string
  path: string
  data: string
  secret: string
  'secret data': string
  boolean: boolean
  list: readonly string[]
  map: Readonly<Record<string, readonly string[]>>
}

/** The fields of a table as an entry holds them. */
export type EntryOf<T extends FieldTable> = { readonly [N in keyof T]: EntryValues[T[N]['kind']] }

/** The fields of a table as programs give them, each of which may be left out. */
export type PlainOf<T extends FieldTable> = {
  readonly [N in keyof T]?: PlainValues[T[N]['kind']] | undefined
}

/** The options of `connect()` for the fields of a table. */
export type OptionsOf<T extends FieldTable> = Pick<PlainOf<T>, OptionName<T>>
type OptionName<T extends FieldTable> = {
  [N in keyof T]: T[N] extends { readonly option: true } ? N : never
}[keyof T]

/** The names of the fields that are options of `connect()`. */
export function optionNames<T extends FieldTable>(table: T): readonly OptionName<T>[] {
  return Object.keys(table).filter((name) => table[name]?.option) as OptionName<T>[]
}

/** The same members, but those that may be undefined are absent instead. */
export type Present<T, N extends keyof T = MaybeUndefined<T>> = Omit<T, N> & {
  readonly [K in N]?: Exclude<T[K], undefined>
}
type MaybeUndefined<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]
