import { isUsableServer, tryParseUrl } from '../formats/server-url.ts'
import type { Secret } from '../secret/secret.ts'
import { API_VERSIONS, INTERACTIVE_MODES, isApiVersion, isInteractiveMode } from './exec-config.ts'
import {
  type ClusterEntry,
  type ExecEntry,
  hasCertificate,
  hasKey,
  hasStaticMethod,
  type UserEntry,
} from './kubeconfig.ts'
import { describeEntry, type Problem, quoteName } from './problem.ts'

const PROXY_SCHEMES: readonly string[] = ['http:', 'https:', 'socks5:']

/** Returns all problems of the selected cluster, with options applied. */
export function clusterProblems(cluster: ClusterEntry): readonly Problem[] {
  const entry = describeEntry('cluster', cluster)
  const problems: Problem[] = []
  const add = (what: string, remedy: string): void => {
    problems.push({ what: `${entry} ${what}`, remedy })
  }
  if (cluster.server === undefined) {
    add('has no server', 'Add the line "server: https://HOST:PORT" to it, or pass option server.')
  } else if (!isUsableServer(cluster.server)) {
    add(
      'has a server that is not a valid http or https URL',
      'Write server as https://HOST:PORT, without user name and password.',
    )
  }
  const { certificateAuthority: file, certificateAuthorityData: data } = cluster
  if (file !== undefined && data !== undefined) {
    add(
      'has both certificate-authority and certificate-authority-data',
      'Remove one of certificate-authority and certificate-authority-data.',
    )
  }
  if (cluster.insecureSkipTlsVerify && (file !== undefined || data !== undefined)) {
    add(
      'has both insecure-skip-tls-verify and a certificate authority',
      'Remove insecure-skip-tls-verify; it is not needed with a certificate authority.',
    )
  }
  if (cluster.proxyUrl !== undefined && !isUsableProxy(cluster.proxyUrl)) {
    add(
      'has a proxy-url that is not a valid http, https or socks5 URL',
      'Write proxy-url as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
    )
  }
  return problems
}

/** Returns whether a proxy URL is valid and has a supported scheme. */
export function isUsableProxy(proxyUrl: Secret): boolean {
  const url = tryParseUrl(proxyUrl.expose())
  return url !== undefined && PROXY_SCHEMES.includes(url.protocol) && url.hostname !== ''
}

/** Returns all problems of the selected user, with options applied. */
export function userProblems(user: UserEntry): readonly Problem[] {
  const entry = describeEntry('user', user)
  return [
    ...certificateProblems(user),
    ...methodProblems(user),
    ...execProblems(user),
    ...impersonationProblems(user),
  ].map(({ what, remedy }) => ({ what: `${entry} ${what}`, remedy }))
}

function certificateProblems(user: UserEntry): Problem[] {
  // As in client-go, a key without a certificate is ignored.
  if (!hasCertificate(user)) return []
  const problems: Problem[] = []
  if (user.clientCertificate !== undefined && user.clientCertificateData !== undefined) {
    problems.push(both('client-certificate', 'client-certificate-data'))
  }
  if (user.clientKey !== undefined && user.clientKeyData !== undefined) {
    problems.push(both('client-key', 'client-key-data'))
  }
  if (!hasKey(user)) {
    problems.push({
      what: 'has a client certificate without its key',
      remedy: 'Add client-key or client-key-data, or remove the certificate.',
    })
  }
  return problems
}

function methodProblems(user: UserEntry): Problem[] {
  const problems: Problem[] = []
  const hasBasic = user.username !== undefined || user.password !== undefined
  if (user.token !== undefined && hasBasic) {
    problems.push({
      what: 'has both a token and a user name or password',
      remedy: 'Keep either token, or username and password.',
    })
  }
  if (user.exec !== undefined && user.authProvider !== undefined) {
    problems.push(both('exec', 'auth-provider'))
  }
  return problems
}

function impersonationProblems(user: UserEntry): Problem[] {
  const hasMore = user.asUid !== undefined || user.asGroups.length > 0 || user.asUserExtra.size > 0
  if (user.as !== undefined || !hasMore) return []
  return [
    {
      what: 'impersonates a uid, groups or extra values without a user',
      remedy: 'Add the user to impersonate ("as", or option as), or remove the other fields.',
    },
  ]
}

function both(one: string, other: string): Problem {
  return { what: `has both ${one} and ${other}`, remedy: `Remove one of ${one} and ${other}.` }
}

/** Returns all problems of the `exec` stanza of a user; `what` follows the description of the entry. */
export function execProblems(user: UserEntry): readonly Problem[] {
  const { exec } = user
  if (exec === undefined) return []
  return [...commandProblems(exec), ...versionProblems(exec, user), ...modeProblems(exec)]
}

function commandProblems(exec: ExecEntry): Problem[] {
  const problems: Problem[] = []
  if (exec.command === undefined) {
    problems.push({
      what: 'has an exec plugin without a command',
      remedy: 'Add exec.command with the name or path of the plugin.',
    })
  }
  for (const [index, variable] of exec.env.entries()) {
    if (variable.name !== undefined) continue
    problems.push({
      what: `has a variable without a name at exec.env[${index}]`,
      remedy: 'Give each item of exec.env a name and a value.',
    })
  }
  return problems
}

function versionProblems({ apiVersion }: ExecEntry, user: UserEntry): Problem[] {
  // An unsupported version is a problem only if the plugin is used.
  if (apiVersion !== undefined && (isApiVersion(apiVersion) || hasStaticMethod(user))) return []
  return [
    {
      what:
        apiVersion === undefined
          ? 'has an exec plugin without an apiVersion'
          : `has an exec plugin with the unknown apiVersion ${quoteName(apiVersion)}`,
      remedy: `Set exec.apiVersion to one of ${API_VERSIONS.join(', ')}.`,
    },
  ]
}

function modeProblems({ apiVersion, interactiveMode }: ExecEntry): Problem[] {
  const remedy = `Set exec.interactiveMode to one of ${INTERACTIVE_MODES.join(', ')}.`
  if (interactiveMode === undefined) {
    // Only v1 requires it; an unknown version has its own problem.
    if (apiVersion !== API_VERSIONS[0]) return []
    return [{ what: 'has a v1 exec plugin without an interactiveMode', remedy }]
  }
  if (isInteractiveMode(interactiveMode)) return []
  const what = `has an exec plugin with the unknown interactiveMode ${quoteName(interactiveMode)}`
  return [{ what, remedy }]
}
