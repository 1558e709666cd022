import type { Environment } from '../formats/plain-object.ts'
import { pluginEnvironment } from '../plugin/plugin-environment.ts'

/** How to reach the proxy of a program, with or without a kubeconfig. */
export interface Access {
  /** Path of a kubeconfig. */
  readonly kubeconfig: string
  readonly url: string
  readonly secret: string
  /** Path of its CA certificate. */
  readonly ca: string
  /** Path of a file with the Authorization header: a secret on a command line is visible to all users. */
  readonly header: string
}

const LOCAL_HOSTS = ['127.0.0.1', 'localhost']

/** Returns the environment of the program: that of the user without PINs, and how to reach the proxy. */
export function childEnvironment(
  env: Environment,
  { kubeconfig, url, secret, ca, header }: Access,
): Record<string, string> {
  return {
    ...pluginEnvironment(env),
    KUBECONFIG: kubeconfig,
    KUBECRED_SERVER: url,
    KUBECRED_TOKEN: secret,
    KUBECRED_CA: ca,
    KUBECRED_HEADER: header,
    // Tools read one or the other: if only one was set, the other one gets its names too.
    NO_PROXY: withLocalHosts(env['NO_PROXY'] ?? env['no_proxy']),
    no_proxy: withLocalHosts(env['no_proxy'] ?? env['NO_PROXY']),
  }
}

function withLocalHosts(list = ''): string {
  const names = list.split(',').filter((name) => name.trim() !== '')
  if (names.some((name) => name.trim() === '*')) return list
  return [...names, ...LOCAL_HOSTS.filter((name) => !names.includes(name))].join(',')
}
