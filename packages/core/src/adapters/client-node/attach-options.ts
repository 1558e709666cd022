import type { ConnectOptions } from '../../connect/connect-options.ts'

/** What `attach()` takes: the options of `connect()` that do not say which cluster, because the KubeConfig says that. */
export interface AttachOptions
  extends Pick<
    ConnectOptions,
    'policy' | 'observer' | 'kuberc' | 'env' | 'saveOidcTokens' | 'stdinUnavailable' | 'signal'
  > {
  /**
   * The files to look up what client-node dropped when it read them; KUBECONFIG or `~/.kube/config` unless given.
   * A file that cannot be read is as if it were not there.
   */
  readonly kubeconfig?: string | readonly string[] | undefined
  /**
   * Login handlers, in place of what the KubeConfig says about its users. It still says where requests go: the
   * server must be one that a login names.
   */
  readonly vault?: ConnectOptions['vault']
}

/** Names of all options. */
export const ATTACH_OPTIONS: readonly string[] = Object.keys({
  policy: true,
  observer: true,
  kuberc: true,
  env: true,
  saveOidcTokens: true,
  stdinUnavailable: true,
  signal: true,
  kubeconfig: true,
  vault: true,
} satisfies Record<keyof AttachOptions, true>)
