import type { Secret } from '../secret/secret.ts'

/**
 * All fields of a cluster entry, by their name in this code and in client-go's order.
 *
 * Each field in this table is read from kubeconfigs and is part of `ClusterEntry`, of `ClusterTarget` and, unless it is a
 * path, of the exec info for plugins. Only rules that involve several fields are written as code.
 */
export const CLUSTER_FIELDS = {
  /** The URL of the API server: `https://HOST:PORT`, with a path if it has one. */
  server: { key: 'server', kind: 'text', clientNode: 'server', option: true },
  /** The name to verify the server's certificate against, and to send as SNI. By default the host of `server`. */
  tlsServerName: {
    key: 'tls-server-name',
    kind: 'text',
    clientNode: 'tlsServerName',
    option: true,
  },
  /** Does not verify the server's certificate. It cannot be combined with a CA. */
  insecureSkipTlsVerify: {
    key: 'insecure-skip-tls-verify',
    kind: 'boolean',
    clientNode: 'skipTLSVerify',
    option: true,
  },
  /** A file with the CA of the server as PEM. By default the CAs of Node. */
  certificateAuthority: {
    key: 'certificate-authority',
    kind: 'path',
    clientNode: 'caFile',
    option: true,
  },
  /** The CA of the server as PEM, instead of a file. */
  certificateAuthorityData: {
    key: 'certificate-authority-data',
    kind: 'data',
    clientNode: 'caData',
    option: true,
  },
  /** The HTTP, HTTPS or SOCKS5 proxy, by default from HTTPS_PROXY and NO_PROXY. It may contain a password. */
  proxyUrl: { key: 'proxy-url', kind: 'secret', clientNode: 'proxyUrl', option: true },
  /** Does not ask the server for compressed responses. */
  disableCompression: { key: 'disable-compression', kind: 'boolean', option: true },
} as const satisfies FieldTable

/** All fields of a user entry except the stanzas `exec` and `auth-provider`. */
export const USER_FIELDS = {
  /** A bearer token. It replaces every other method that ends in an `Authorization` header. */
  token: { key: 'token', kind: 'secret', clientNode: 'token', option: true },
  tokenFile: { key: 'tokenFile', kind: 'path' },
  /** The user name for basic authentication. */
  username: { key: 'username', kind: 'text', clientNode: 'username', option: true },
  /** The password for basic authentication. */
  password: { key: 'password', kind: 'secret', clientNode: 'password', option: true },
  /** A file with the client certificate as PEM, followed by its intermediates. */
  clientCertificate: {
    key: 'client-certificate',
    kind: 'path',
    clientNode: 'certFile',
    option: true,
  },
  clientCertificateData: { key: 'client-certificate-data', kind: 'data', clientNode: 'certData' },
  /** A file with the private key of the client certificate as PEM. */
  clientKey: { key: 'client-key', kind: 'path', clientNode: 'keyFile', option: true },
  clientKeyData: { key: 'client-key-data', kind: 'secret data', clientNode: 'keyData' },
  /** The user to impersonate. */
  as: { key: 'as', kind: 'text', clientNode: 'impersonateUser', option: true },
  /** The UID to impersonate. It needs `as`. */
  asUid: { key: 'as-uid', kind: 'text', option: true },
  /** The groups to impersonate. They need `as`. */
  asGroups: { key: 'as-groups', kind: 'list', option: true, flag: 'as-group' },
  /** Extra fields to impersonate, each a list of values. They need `as`. */
  asUserExtra: { key: 'as-user-extra', kind: 'map', option: true },
} as const satisfies FieldTable

/** A table of fields, by their name in this code. */
export type FieldTable = Readonly<Record<string, Field>>

/** A field of a cluster or user entry. */
export interface Field {
  /** Its key in a kubeconfig, and for clusters also in `spec.cluster` of exec info. */
  readonly key: string
  readonly kind: Kind
  /** Its name in the objects of @kubernetes/client-node; undefined if client-node ignores it. */
  readonly clientNode?: string
  /** Set if it is an option of `connect()` with the same name, and a flag of the program. Fields of kind `data` are not flags. */
  readonly option?: true
  /** The name of the flag; the key by default. */
  readonly flag?: string
}

/** The kind of value of a field. */
export type Kind = keyof EntryValues

/** The type of each kind of field in an entry. An empty string counts as absent. */
export interface EntryValues {
  text: string | undefined
  /** The path of a file, relative to the directory of the kubeconfig. */
  path: string | undefined
  /** A string that is base64-encoded in the kubeconfig. */
  data: string | undefined
  secret: Secret | undefined
  'secret data': Secret | undefined
  boolean: boolean
  list: readonly string[]
  map: ReadonlyMap<string, readonly string[]>
}

/** The type of each kind of field in options. */
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

/** The fields of a table in an entry. */
export type EntryOf<T extends FieldTable> = { readonly [N in keyof T]: EntryValues[T[N]['kind']] }

/** The fields of a table in options; all are optional. */
export type PlainOf<T extends FieldTable> = {
  readonly [N in keyof T]?: PlainValues[T[N]['kind']] | undefined
}

/** The options of `connect()` for the fields of a table. */
export type OptionsOf<T extends FieldTable> = Pick<PlainOf<T>, OptionName<T>>
type OptionName<T extends FieldTable> = {
  [N in keyof T]: T[N] extends { readonly option: true } ? N : never
}[keyof T]

/** Returns the names of the fields that are options of `connect()`. */
export function optionNames<T extends FieldTable>(table: T): readonly OptionName<T>[] {
  return Object.keys(table).filter((name) => table[name]?.option) as OptionName<T>[]
}

/** The same members, where those that may be undefined are optional. */
export type Present<T, N extends keyof T = MaybeUndefined<T>> = Omit<T, N> & {
  readonly [K in N]?: Exclude<T[K], undefined>
}
type MaybeUndefined<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]
