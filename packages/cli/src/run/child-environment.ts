import { type Environment, pluginEnvironment } from 'kubecred/internal'

/** How to reach the proxy of `run`, for tools that read a kubeconfig and for those that do not. */
export interface Access {
  /** Path of a kubeconfig. */
  readonly kubeconfig: string
  readonly url: string
  readonly secret: string
  /** Path of the authority of its certificate. */
  readonly ca: string
  /** Path of a file with the header that authenticates: a secret on a command line can be seen by everybody. */
  readonly header: string
}

const HERE = ['127.0.0.1', 'localhost']

/** The environment of the command: the user's own, and how to reach the proxy. PINs are for signers only. */
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
    // Tools read the one or the other: where only one was set, its names must not be lost to them.
    NO_PROXY: withHere(env['NO_PROXY'] ?? env['no_proxy']),
    no_proxy: withHere(env['no_proxy'] ?? env['NO_PROXY']),
  }
}

function withHere(list = ''): string {
  const names = list.split(',').filter((name) => name.trim() !== '')
  if (names.some((name) => name.trim() === '*')) return list
  return [...names, ...HERE.filter((name) => !names.includes(name))].join(',')
}
