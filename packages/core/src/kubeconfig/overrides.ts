import { isHeaderSafe } from '../credential/credential.ts'
import { isUsableServer } from '../formats/server-url.ts'
import { Secret } from '../secret/secret.ts'
import {
  CLUSTER_FIELDS,
  type EntryOf,
  type EntryValues,
  type FieldTable,
  type Kind,
  type OptionsOf,
  optionNames,
  type PlainOf,
  type PlainValues,
  USER_FIELDS,
} from './fields.ts'
import { type ClusterEntry, hasKey, type UserEntry } from './kubeconfig.ts'
import type { Problem } from './problem.ts'
import { isUsableProxy } from './validate.ts'

/** What flags and options lay over the kubeconfig; named as kubectl's flags. */
export interface Overrides extends ClusterOverrides, OptionsOf<typeof USER_FIELDS> {
  readonly context?: string | undefined
  readonly cluster?: string | undefined
  readonly user?: string | undefined
  readonly namespace?: string | undefined
}

/** What flags and options lay over a cluster entry. */
export interface ClusterOverrides extends OptionsOf<typeof CLUSTER_FIELDS> {
  /** The CA as PEM, in place of a file. */
  readonly certificateAuthorityData?: string | undefined
}

/** The names of all overrides. */
export const OVERRIDE_NAMES: readonly (keyof Overrides)[] = [
  'context',
  'cluster',
  'user',
  'namespace',
  ...optionNames(CLUSTER_FIELDS),
  ...optionNames(USER_FIELDS),
]

/**
 * Lays flags over a cluster entry.
 *
 * Trust is replaced whole: `insecure` drops the CA of the entry, a CA drops `insecure` and inline data. A new
 * server drops the entry's `tls-server-name`, which belonged to the old one.
 */
export function applyClusterOverrides(entry: ClusterEntry, overrides: Overrides): ClusterEntry {
  const { server, insecureSkipTlsVerify, certificateAuthority, certificateAuthorityData } =
    overrides
  const replacesTrust = insecureSkipTlsVerify || certificateAuthority || certificateAuthorityData
  const kept: ClusterEntry = {
    ...entry,
    ...(replacesTrust && NO_TRUST),
    ...(server && { tlsServerName: undefined }),
  }
  return { ...kept, ...layOver(CLUSTER_FIELDS, kept, overrides) }
}

const NO_TRUST = {
  insecureSkipTlsVerify: false,
  certificateAuthority: undefined,
  certificateAuthorityData: undefined,
} as const

/**
 * Lays flags over a user entry.
 *
 * A token or a user name given by flag takes the place of every other method that ends in an Authorization
 * header. A client certificate of the entry stays, since it travels beside the header. Impersonation is merged
 * field by field, as in client-go.
 */
export function applyUserOverrides(entry: UserEntry, overrides: Overrides): UserEntry {
  const { token, username, password, clientCertificate, clientKey } = overrides
  const kept: UserEntry = {
    ...entry,
    ...((token || username || password) && NO_HEADER_METHOD),
    // A password alone goes with the user name of the entry.
    ...(!token && { username: entry.username, password: entry.password }),
    ...(clientCertificate && { clientCertificateData: undefined }),
    ...(clientKey && { clientKeyData: undefined }),
  }
  return { ...kept, ...layOver(USER_FIELDS, kept, overrides) }
}

const NO_HEADER_METHOD = {
  token: undefined,
  tokenFile: undefined,
  username: undefined,
  password: undefined,
  exec: undefined,
  authProvider: undefined,
} as const

/** The options of a table, each over the value of the entry. */
function layOver<T extends FieldTable>(
  table: T,
  entry: EntryOf<T>,
  overrides: PlainOf<T>,
): Pick<EntryOf<T>, keyof OptionsOf<T>> {
  const laid: Record<string, unknown> = {}
  for (const [name, { kind, option }] of Object.entries(table)) {
    if (option) laid[name] = LAY_OVER[kind](overrides[name] as never, entry[name] as never)
  }
  return laid as Pick<EntryOf<T>, keyof OptionsOf<T>>
}

/** What counts, by kind of field: the given value, or the one of the entry. Empty text and an empty list give nothing. */
const LAY_OVER: {
  readonly [K in Kind]: (given: PlainValues[K] | undefined, own: EntryValues[K]) => EntryValues[K]
} = {
  text: (given, own) => given || own,
  path: (given, own) => given || own,
  data: (given, own) => given || own,
  secret: (given, own) => (given ? new Secret(given) : own),
  'secret data': (given, own) => (given ? new Secret(given) : own),
  // client-go cannot switch verification back on; an explicit `false` does it here.
  boolean: (given, own) => given ?? own,
  list: (given, own) => (given?.length ? given : own),
  map: (given, own) => (given ? new Map([...own, ...Object.entries(given)]) : own),
}

type Found = Omit<Problem, 'isOption'> | false | '' | undefined

/**
 * Lists what is wrong with options, so that no entry of a file is blamed for it.
 *
 * @param user The user entry without them: it may have what an option needs.
 */
export function overrideProblems(overrides: Overrides, user: UserEntry): readonly Problem[] {
  return [
    ...clusterOptions(overrides),
    ...userOptions(overrides, user),
    ...impersonationOptions(overrides, user),
  ].flatMap((found) => (found ? [{ ...found, isOption: true }] : []))
}

function clusterOptions(overrides: Overrides): Found[] {
  const { server, proxyUrl, tlsServerName, certificateAuthority } = overrides
  return [
    server &&
      !isUsableServer(server) && {
        what: 'option server is no http or https address of the form https://HOST:PORT',
        remedy: 'Correct it, and keep user name and password out of the address.',
      },
    proxyUrl &&
      !isUsableProxy(new Secret(proxyUrl)) && {
        what: 'option proxyUrl is no http, https or socks5 address',
        remedy: 'Write it as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
      },
    tlsServerName &&
      !/^[\w.:-]+$/.test(tlsServerName) && {
        what: 'option tlsServerName is neither a host name nor an IP address',
        remedy: "Write a name that the server's certificate has.",
      },
    overrides.insecureSkipTlsVerify === true &&
      certificateAuthority && {
        what: 'option insecureSkipTlsVerify contradicts option certificateAuthority',
        remedy:
          'Leave out option insecureSkipTlsVerify: with a certificate authority it is not needed.',
      },
  ]
}

function userOptions(overrides: Overrides, user: UserEntry): Found[] {
  const { token, username, password, clientCertificate, clientKey } = overrides
  return [
    token &&
      !isHeaderSafe(token) && {
        what: 'option token has a character that no HTTP header can carry',
        remedy: 'Remove line breaks and white space at its ends.',
      },
    token &&
      (username || password) && {
        what: `option token contradicts option ${username ? 'username' : 'password'}`,
        remedy: 'Give a token, or a user name with its password.',
      },
    username?.includes(':') && {
      what: 'option username has a colon, which ends a user name in basic authentication',
      remedy: 'Correct the user name.',
    },
    clientCertificate &&
      !clientKey &&
      !hasKey(user) && {
        what: 'option clientCertificate needs option clientKey: the user entry has no key',
        remedy: 'Give the key of the certificate too.',
      },
  ]
}

function impersonationOptions(overrides: Overrides, user: UserEntry): Found[] {
  const { as, asUid, asGroups = [], asUserExtra = {} } = overrides
  const values = {
    as: as ? [as] : [],
    asUid: asUid ? [asUid] : [],
    asGroups,
    asUserExtra: Object.values(asUserExtra).flat(),
  }
  const given = Object.entries(values).filter(([, each]) => each.length > 0)
  const isAlone = !as && user.as === undefined
  return given.flatMap(([name, each]): Found[] => [
    isAlone && {
      what: `option ${name} needs option as: there is no user to impersonate`,
      remedy: 'Say which user to impersonate too.',
    },
    each.some((value) => UNSENDABLE.test(value)) && {
      what: `option ${name} has a character that no HTTP header can carry`,
      remedy: 'Remove line breaks and control characters.',
    },
  ])
}

/** Control characters. Letters beyond ASCII are sent as UTF-8. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\uffff]/
