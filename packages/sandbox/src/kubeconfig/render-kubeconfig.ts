import type { KubeconfigExec, KubeconfigOptions, KubeconfigUser } from './kubeconfig-options.ts'

const NAME = 'sandbox'
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec'

/** Renders a kubeconfig as JSON, which every YAML parser reads. */
export function renderKubeconfig(options: KubeconfigOptions, url: string, caPem: string): string {
  const user = options.user ?? {}
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    clusters: [{ name: NAME, cluster: renderCluster(options, url, caPem) }],
    contexts: [
      {
        name: NAME,
        context: { cluster: NAME, user: NAME, namespace: options.namespace ?? 'default' },
      },
    ],
    users: [{ name: NAME, user: renderUser(user) }],
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

function renderCluster(options: KubeconfigOptions, url: string, caPem: string): unknown {
  const { extension, insecureSkipTlsVerify } = options
  return {
    server: options.server ?? url,
    ...(insecureSkipTlsVerify === true
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': base64(caPem) }),
    'tls-server-name': options.tlsServerName,
    'proxy-url': options.proxyUrl,
    extensions: extension === undefined ? undefined : [{ name: EXEC_EXTENSION, extension }],
  }
}

/** Undefined fields are omitted by `JSON.stringify`. */
function renderUser(user: KubeconfigUser): unknown {
  return {
    token: user.token,
    tokenFile: user.tokenFile,
    'client-certificate-data': user['client-certificate-data'] ?? base64(user.certificate),
    'client-key-data': user['client-key-data'] ?? base64(user.key),
    'client-certificate': user['client-certificate'] ?? user.certificateFile,
    'client-key': user['client-key'] ?? user.keyFile,
    username: user.username,
    password: user.password,
    exec: user.exec === undefined ? undefined : renderExec(user.exec),
    'auth-provider': user['auth-provider'],
    as: user.as ?? user.impersonate,
    'as-uid': user['as-uid'] ?? user.impersonateUid,
    'as-groups': user['as-groups'] ?? user.impersonateGroups,
    'as-user-extra': user['as-user-extra'] ?? user.impersonateExtra,
  }
}

function renderExec(exec: KubeconfigExec): unknown {
  return {
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    command: exec.command,
    args: exec.args ?? [],
    env: renderEnv(exec.env),
    interactiveMode: exec.interactiveMode ?? 'IfAvailable',
    provideClusterInfo: exec.provideClusterInfo ?? false,
    installHint: exec.installHint,
  }
}

function renderEnv(env: KubeconfigExec['env'] = {}): unknown {
  return Array.isArray(env) ? env : Object.entries(env).map(([name, value]) => ({ name, value }))
}

function base64(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text).toString('base64')
}
