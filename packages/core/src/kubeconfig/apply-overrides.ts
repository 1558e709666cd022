import { Secret } from '../secret/secret.ts'
import type { ClusterEntry, UserEntry } from './kubeconfig.ts'
import type { Overrides } from './overrides.ts'

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
