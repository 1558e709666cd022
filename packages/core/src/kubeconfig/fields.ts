import type { Secret } from '../secret/secret.ts'

/**
 * Every field of a cluster entry, under the name it has here and in client-go's order.
 *
 * All else follows from a line in this table: the field is read from kubeconfigs, is part of `ClusterEntry`,
 * `ClusterTarget` and, unless it is a path, of what plugins get. Only rules that connect fields are written as code.
 */
export const CLUSTER_FIELDS = {
  server: {
    key: 'server',
    kind: 'text',
    clientNode: 'server',
    flag: { short: 's', value: 'URL', help: 'address of the API server' },
  },
  tlsServerName: {
    key: 'tls-server-name',
    kind: 'text',
    clientNode: 'tlsServerName',
    flag: { value: 'NAME', help: "name to check the server's certificate against" },
  },
  insecureSkipTlsVerify: {
    key: 'insecure-skip-tls-verify',
    kind: 'boolean',
    clientNode: 'skipTLSVerify',
    flag: { help: "do not check the server's certificate" },
  },
  certificateAuthority: {
    key: 'certificate-authority',
    kind: 'path',
    clientNode: 'caFile',
    flag: { value: 'FILE', help: "CA of the server's certificate" },
  },
  certificateAuthorityData: {
    key: 'certificate-authority-data',
    kind: 'data',
    clientNode: 'caData',
    option: true,
  },
  /** It may carry a password. */
  proxyUrl: {
    key: 'proxy-url',
    kind: 'secret',
    clientNode: 'proxyUrl',
    flag: { value: 'URL', help: 'proxy to reach the server through' },
  },
  disableCompression: {
    key: 'disable-compression',
    kind: 'boolean',
    flag: { help: 'do not ask for compressed answers' },
  },
} as const satisfies FieldTable

/** Every field of a user entry but the stanzas `exec` and `auth-provider`, which have fields of their own. */
export const USER_FIELDS = {
  token: {
    key: 'token',
    kind: 'secret',
    clientNode: 'token',
    flag: { value: 'TOKEN', help: 'bearer token; other users of the machine can see it' },
  },
  tokenFile: { key: 'tokenFile', kind: 'path' },
  username: {
    key: 'username',
    kind: 'text',
    clientNode: 'username',
    flag: { value: 'NAME', help: 'user name for basic authentication' },
  },
  password: {
    key: 'password',
    kind: 'secret',
    clientNode: 'password',
    flag: { value: 'TEXT', help: 'password for basic authentication' },
  },
  clientCertificate: {
    key: 'client-certificate',
    kind: 'path',
    clientNode: 'certFile',
    flag: { value: 'FILE', help: 'client certificate' },
  },
  clientCertificateData: { key: 'client-certificate-data', kind: 'data', clientNode: 'certData' },
  clientKey: {
    key: 'client-key',
    kind: 'path',
    clientNode: 'keyFile',
    flag: { value: 'FILE', help: 'private key of the client certificate' },
  },
  clientKeyData: { key: 'client-key-data', kind: 'secret data', clientNode: 'keyData' },
  as: {
    key: 'as',
    kind: 'text',
    clientNode: 'impersonateUser',
    flag: { value: 'USER', help: 'user to impersonate' },
  },
  asUid: {
    key: 'as-uid',
    kind: 'text',
    flag: { value: 'UID', help: 'UID to impersonate' },
  },
  asGroups: {
    key: 'as-groups',
    kind: 'list',
    flag: {
      name: 'as-group',
      value: 'GROUP',
      repeats: true,
      help: 'group to impersonate; repeatable',
    },
  },
  asUserExtra: {
    key: 'as-user-extra',
    kind: 'map',
    flag: { value: 'KEY=VALUE', repeats: true, help: 'extra field to impersonate; repeatable' },
  },
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
  /** The flag of the program. It makes the field an option of `connect()`, under the name it has here. */
  readonly flag?: FieldFlag
  /** Makes it an option without a flag. */
  readonly option?: true
}

/** A flag as people type it. */
export interface FieldFlag {
  /** The key of the field by default. */
  readonly name?: string
  readonly short?: string
  /** What stands for its value in the help; without it the flag is a switch. */
  readonly value?: string
  /** Whether it may be given more than once. */
  readonly repeats?: true
  readonly help: string
}

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
  [N in keyof T]: T[N] extends { readonly flag: FieldFlag } | { readonly option: true } ? N : never
}[keyof T]

/** The names of the fields that are options of `connect()`. */
export function optionNames<T extends FieldTable>(table: T): readonly OptionName<T>[] {
  const options = Object.entries(table).filter(([, { flag, option }]) => flag ?? option)
  return options.map(([name]) => name as OptionName<T>)
}

/** The same members, but those that may be undefined are absent instead. */
export type Present<T, N extends keyof T = MaybeUndefined<T>> = Omit<T, N> & {
  readonly [K in N]?: Exclude<T[K], undefined>
}
type MaybeUndefined<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]
