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

/** Options that override the kubeconfig, named like kubectl's flags. */
export interface Overrides extends ClusterOverrides, OptionsOf<typeof USER_FIELDS> {
  /** The context to use instead of `current-context`. */
  readonly context?: string | undefined
  /** The cluster entry to use instead of that of the context. */
  readonly cluster?: string | undefined
  /** The user entry to use instead of that of the context. */
  readonly user?: string | undefined
  /** The namespace to use instead of that of the context; `cluster.namespace` returns it. */
  readonly namespace?: string | undefined
}

/** Options that override a cluster entry. */
export interface ClusterOverrides extends OptionsOf<typeof CLUSTER_FIELDS> {
  /** The CA of the server as PEM, instead of a file. */
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
 * Applies options to a cluster entry.
 *
 * Trust settings are replaced as a whole: `insecureSkipTlsVerify` removes the CA of the entry, and a CA removes
 * `insecure-skip-tls-verify` and inline data. A new server removes the `tls-server-name` of the old one.
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
  return { ...kept, ...applyOptions(CLUSTER_FIELDS, kept, overrides) }
}

const NO_TRUST = {
  insecureSkipTlsVerify: false,
  certificateAuthority: undefined,
  certificateAuthorityData: undefined,
} as const

/**
 * Applies options to a user entry.
 *
 * A token or user name replaces every other method that sets the Authorization header. A client certificate of the
 * entry stays, because it does not use the header. Impersonation is merged field by field, as in client-go.
 */
export function applyUserOverrides(entry: UserEntry, overrides: Overrides): UserEntry {
  const { token, username, password, clientCertificate, clientKey } = overrides
  const kept: UserEntry = {
    ...entry,
    ...((token || username || password) && NO_HEADER_METHOD),
    // Option password alone is combined with the user name of the entry.
    ...(!token && { username: entry.username, password: entry.password }),
    ...(clientCertificate && { clientCertificateData: undefined }),
    ...(clientKey && { clientKeyData: undefined }),
  }
  return { ...kept, ...applyOptions(USER_FIELDS, kept, overrides) }
}

const NO_HEADER_METHOD = {
  token: undefined,
  tokenFile: undefined,
  username: undefined,
  password: undefined,
  exec: undefined,
  authProvider: undefined,
} as const

/** Returns each option of a table, or the value of the entry if it is not set. */
function applyOptions<T extends FieldTable>(
  table: T,
  entry: EntryOf<T>,
  overrides: PlainOf<T>,
): Pick<EntryOf<T>, keyof OptionsOf<T>> {
  const applied: Record<string, unknown> = {}
  for (const [name, { kind, option }] of Object.entries(table)) {
    if (option) applied[name] = APPLY[kind](overrides[name] as never, entry[name] as never)
  }
  return applied as Pick<EntryOf<T>, keyof OptionsOf<T>>
}

/** Returns the option, or the value of the entry if the option is not set. An empty string or list counts as not set. */
const APPLY: {
  readonly [K in Kind]: (given: PlainValues[K] | undefined, own: EntryValues[K]) => EntryValues[K]
} = {
  text: (given, own) => given || own,
  path: (given, own) => given || own,
  data: (given, own) => given || own,
  secret: (given, own) => (given ? new Secret(given) : own),
  'secret data': (given, own) => (given ? new Secret(given) : own),
  // In client-go a flag cannot re-enable verification; here an explicit `false` does.
  boolean: (given, own) => given ?? own,
  list: (given, own) => (given?.length ? given : own),
  map: (given, own) => (given ? new Map([...own, ...Object.entries(given)]) : own),
}

type Found = Omit<Problem, 'isOption'> | false | '' | undefined

/**
 * Returns all problems with options. They are checked separately, so that messages do not blame an entry of a file.
 *
 * @param user The user entry without the options: it may have what an option requires.
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
        what: 'option server is not a valid http or https URL',
        remedy: 'Write it as https://HOST:PORT, without user name and password.',
      },
    proxyUrl &&
      !isUsableProxy(new Secret(proxyUrl)) && {
        what: 'option proxyUrl is not a valid http, https or socks5 URL',
        remedy: 'Write it as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
      },
    tlsServerName &&
      !/^[\w.:-]+$/.test(tlsServerName) && {
        what: 'option tlsServerName is neither a host name nor an IP address',
        remedy: "Use a name from the server's certificate.",
      },
    overrides.insecureSkipTlsVerify === true &&
      certificateAuthority && {
        what: 'option insecureSkipTlsVerify cannot be combined with option certificateAuthority',
        remedy:
          'Remove option insecureSkipTlsVerify; it is not needed with a certificate authority.',
      },
  ]
}

function userOptions(overrides: Overrides, user: UserEntry): Found[] {
  const { token, username, password, clientCertificate, clientKey } = overrides
  return [
    token &&
      !isHeaderSafe(token) && {
        what: 'option token contains a character that is not allowed in an HTTP header',
        remedy: 'Remove line breaks, and spaces at its start and end.',
      },
    token &&
      (username || password) && {
        what: `option token cannot be combined with option ${username ? 'username' : 'password'}`,
        remedy: 'Pass either a token, or a user name and password.',
      },
    username?.includes(':') && {
      what: 'option username contains a colon, which is not allowed in basic authentication',
      remedy: 'Correct the user name.',
    },
    clientCertificate &&
      !clientKey &&
      !hasKey(user) && {
        what: 'option clientCertificate requires option clientKey: the user entry has no key',
        remedy: 'Pass the key of the certificate with option clientKey.',
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
      what: `option ${name} requires option as: there is no user to impersonate`,
      remedy: 'Pass the user to impersonate with option as.',
    },
    each.some((value) => NOT_IN_HEADERS.test(value)) && {
      what: `option ${name} contains a character that is not allowed in an HTTP header`,
      remedy: 'Remove line breaks and control characters.',
    },
  ])
}

/** Control characters. Letters beyond ASCII are sent as UTF-8. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\uffff]/
