import { isHeaderSafe } from '../credential/credential.ts'
import { isUsableServer } from '../formats/server-url.ts'
import { Secret } from '../secret/secret.ts'
import { type ClusterEntry, hasKey, type UserEntry } from './kubeconfig.ts'
import type { Problem } from './problem.ts'
import { isUsableProxy } from './validate.ts'

/** What flags and options lay over the kubeconfig; named as kubectl's flags. */
export interface Overrides {
  readonly context?: string | undefined
  readonly cluster?: string | undefined
  readonly user?: string | undefined
  readonly namespace?: string | undefined
  readonly server?: string | undefined
  readonly tlsServerName?: string | undefined
  readonly insecureSkipTlsVerify?: boolean | undefined
  readonly certificateAuthority?: string | undefined
  /** The same as PEM, in place of a file. */
  readonly certificateAuthorityData?: string | undefined
  readonly proxyUrl?: string | undefined
  readonly disableCompression?: boolean | undefined
  readonly token?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
  readonly as?: string | undefined
  readonly asUid?: string | undefined
  readonly asGroups?: readonly string[] | undefined
  readonly asUserExtra?: Readonly<Record<string, readonly string[]>> | undefined
}

/**
 * Lays flags over a cluster entry.
 *
 * Trust is replaced whole: `insecure` drops the CA of the entry, a CA drops `insecure` and inline data. A new
 * server drops the entry's `tls-server-name`, which belonged to the old one.
 */
export function applyClusterOverrides(entry: ClusterEntry, overrides: Overrides): ClusterEntry {
  const { server, tlsServerName, certificateAuthority, certificateAuthorityData, proxyUrl } =
    overrides
  const hasAuthority = Boolean(certificateAuthority || certificateAuthorityData)
  const replacesTrust = overrides.insecureSkipTlsVerify === true || hasAuthority
  const trust = replacesTrust
    ? {
        insecureSkipTlsVerify: overrides.insecureSkipTlsVerify ?? false,
        certificateAuthority: certificateAuthority || undefined,
        certificateAuthorityData: certificateAuthorityData || undefined,
      }
    : // client-go cannot switch verification back on; an explicit `false` does it here.
      { insecureSkipTlsVerify: overrides.insecureSkipTlsVerify ?? entry.insecureSkipTlsVerify }
  return {
    ...entry,
    ...trust,
    server: server || entry.server,
    tlsServerName: tlsServerName || (server ? undefined : entry.tlsServerName),
    proxyUrl: proxyUrl ? new Secret(proxyUrl) : entry.proxyUrl,
    disableCompression: overrides.disableCompression ?? entry.disableCompression,
  }
}

/**
 * Lays flags over a user entry.
 *
 * A token or a user name given by flag takes the place of every other method that ends in an Authorization
 * header. A client certificate of the entry stays, since it travels beside the header. Impersonation is merged
 * field by field, as in client-go.
 */
export function applyUserOverrides(entry: UserEntry, overrides: Overrides): UserEntry {
  return applyImpersonation(
    applyCertificate(applyBasic(applyToken(entry, overrides), overrides), overrides),
    overrides,
  )
}

const NO_HEADER_METHOD = {
  token: undefined,
  tokenFile: undefined,
  username: undefined,
  password: undefined,
  exec: undefined,
  authProvider: undefined,
} as const

function applyToken(entry: UserEntry, { token }: Overrides): UserEntry {
  return token ? { ...entry, ...NO_HEADER_METHOD, token: new Secret(token) } : entry
}

function applyBasic(entry: UserEntry, overrides: Overrides): UserEntry {
  const { username, password, token } = overrides
  if (!(username || password)) return entry
  return {
    ...entry,
    ...NO_HEADER_METHOD,
    // Two methods on the command line contradict each other: both stay, for validation to refuse.
    token: token ? entry.token : undefined,
    username: username || entry.username,
    password: password ? new Secret(password) : entry.password,
  }
}

function applyCertificate(entry: UserEntry, overrides: Overrides): UserEntry {
  const { clientCertificate, clientKey } = overrides
  return {
    ...entry,
    ...(clientCertificate ? { clientCertificate, clientCertificateData: undefined } : {}),
    ...(clientKey ? { clientKey, clientKeyData: undefined } : {}),
  }
}

function applyImpersonation(entry: UserEntry, overrides: Overrides): UserEntry {
  const { as, asUid, asGroups = [], asUserExtra } = overrides
  if (!as && !asUid && asGroups.length === 0 && asUserExtra === undefined) return entry
  return {
    ...entry,
    as: as || entry.as,
    asUid: asUid || entry.asUid,
    asGroups: asGroups.length > 0 ? asGroups : entry.asGroups,
    asUserExtra: new Map([...entry.asUserExtra, ...Object.entries(asUserExtra ?? {})]),
  }
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
