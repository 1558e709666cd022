import type { ClusterEntry, Kubeconfig, UserEntry } from '../../kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../../kubeconfig/parse-kubeconfig.ts'
import { readProvider } from './foreign-user.ts'
import type { ClusterLike, ContextLike, UserLike } from './readable-kube-config.ts'
import type { Selection } from './selection.ts'

/**
 * Turns what client-node keeps back into a kubeconfig with one context, and reads it as we read any other.
 *
 * @throws {KubeconfigSyntaxError} Names entry and field.
 */
export function givenEntries({ currentContext, context, cluster, user }: Selection): Kubeconfig {
  return parseKubeconfig({
    'current-context': currentContext,
    contexts: context && [{ name: currentContext, context: contextFields(context) }],
    clusters: cluster && [{ name: context?.cluster, cluster: clusterFields(cluster) }],
    users: user && [{ name: context?.user, user: userFields(user) }],
  })
}

function contextFields({ cluster, user, namespace }: ContextLike): unknown {
  // In a pod client-node takes it from a file, with whatever ends its line.
  return { cluster, user, namespace: namespace?.trim() }
}

function clusterFields(cluster: ClusterLike): unknown {
  return {
    server: cluster.server,
    'certificate-authority': cluster.caFile,
    'certificate-authority-data': cluster.caData,
    'insecure-skip-tls-verify': cluster.skipTLSVerify === true,
    'tls-server-name': cluster.tlsServerName,
    'proxy-url': cluster.proxyUrl,
  }
}

function userFields(user: UserLike): unknown {
  return {
    token: user.token,
    username: user.username,
    password: user.password,
    'client-certificate': user.certFile,
    'client-certificate-data': user.certData,
    'client-key': user.keyFile,
    'client-key-data': user.keyData,
    as: user.impersonateUser,
    ...methodFields(user),
  }
}

/** client-node also takes a token file and a plugin from the settings of a provider, whatever its name. */
function methodFields(user: UserLike): Record<string, unknown> {
  const { config } = readProvider(user)
  if (user.exec) return { exec: user.exec }
  if (config['exec']) return { exec: config['exec'] }
  if (config['tokenFile']) return user.token ? {} : { tokenFile: config['tokenFile'] }
  return { 'auth-provider': user.authProvider }
}

/** Where the fields of a cluster contradict each other, client-node has an order, and programs rely on it. */
export function settleCluster(entry: ClusterEntry): ClusterEntry {
  if (entry.insecureSkipTlsVerify) {
    return { ...entry, certificateAuthority: undefined, certificateAuthorityData: undefined }
  }
  if (entry.certificateAuthority === undefined) return entry
  return { ...entry, certificateAuthorityData: undefined }
}

/** The same for a user: a file wins over data, a token over basic, a plugin over a provider. */
export function settleUser(entry: UserEntry): UserEntry {
  return {
    ...entry,
    ...(entry.clientCertificate !== undefined && { clientCertificateData: undefined }),
    ...(entry.clientKey !== undefined && { clientKeyData: undefined }),
    ...(entry.token !== undefined && { username: undefined, password: undefined }),
    ...(entry.exec !== undefined && { authProvider: undefined }),
  }
}
