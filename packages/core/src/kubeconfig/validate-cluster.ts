import type { Secret } from '../secret/secret.ts'
import type { ClusterEntry } from './kubeconfig.ts'
import type { Problem } from './problem.ts'
import { describeEntry } from './quote-name.ts'
import { isUsableServer, tryParse } from './server-url.ts'

const PROXY_SCHEMES: readonly string[] = ['http:', 'https:', 'socks5:']

/** Lists what makes the selected cluster unusable, flags included. */
export function clusterProblems(cluster: ClusterEntry): readonly Problem[] {
  const entry = describeEntry('cluster', cluster)
  const problems: Problem[] = []
  const add = (what: string, remedy: string): void => {
    problems.push({ what: `${entry} ${what}`, remedy })
  }
  if (cluster.server === undefined) {
    add('has no server', 'Add the line "server: https://HOST:PORT" to it, or pass --server.')
  } else if (!isUsableServer(cluster.server)) {
    add(
      'has a server that is no http or https address of the form https://HOST:PORT',
      'Correct it, and keep user name and password out of the address.',
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
      'Remove insecure-skip-tls-verify: with a certificate authority it is not needed.',
    )
  }
  if (cluster.proxyUrl !== undefined && !isUsableProxy(cluster.proxyUrl)) {
    add(
      'has a proxy-url that is no http, https or socks5 address',
      'Write proxy-url as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
    )
  }
  return problems
}

/** Whether requests can be sent through it, as far as its form tells. */
export function isUsableProxy(proxyUrl: Secret): boolean {
  const url = tryParse(proxyUrl.expose())
  return url !== undefined && PROXY_SCHEMES.includes(url.protocol) && url.hostname !== ''
}
