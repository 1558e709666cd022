import type { Agent } from 'node:http'
import { type ConnectOptions, checkPolicy } from '../../connect/connect-options.ts'
import { checkNames } from '../../errors/known-names.ts'
import type { ReadableKubeConfig } from '../../logins/kube-config-object.ts'
import { type Attachment, KubeConfigAttachment } from './attachment.ts'

/** Where a KubeConfig keeps its attachment; a symbol all copies of this package know. */
const ATTACHED = Symbol.for('kubecred/client-node/1')

/**
 * Lets a `KubeConfig` of @kubernetes/client-node 1.x or 2.x send its requests with our credentials.
 *
 * From now on everything made from it, before or after, is ours: generated APIs, watches, informers, logs, exec,
 * attach, port-forward and cp. No plugin runs before the first request. A second call for the same KubeConfig
 * gives the same attachment.
 *
 * @throws {TypeError} When it is attached already with other options, or is no KubeConfig; or an option is unknown.
 *
 * @example
 * const kc = new KubeConfig()
 * kc.loadFromDefault()
 * attach(kc)
 * const api = kc.makeApiClient(CoreV1Api)
 */
export function attach(kc: KubeConfigLike, options: AttachOptions = {}): Attachment {
  checkShape(kc)
  checkNames(options, 'attach()', ATTACH_OPTIONS)
  checkPolicy(options.policy ?? {})
  options.signal?.throwIfAborted()
  const holder = kc as KubeConfigLike & { [ATTACHED]?: KubeConfigAttachment }
  const known = holder[ATTACHED]
  if (known !== undefined) {
    if (known.fits(options)) return known
    throw new TypeError(
      'this KubeConfig is attached already, with other options: close() that attachment first',
    )
  }
  const attachment = new KubeConfigAttachment(kc, options, () => delete holder[ATTACHED])
  Object.defineProperty(holder, ATTACHED, { value: attachment, configurable: true })
  return attachment
}

function checkShape(kc: Partial<KubeConfigLike> | null | undefined): void {
  const { applySecurityAuthentication, applyToHTTPSOptions, getCurrentCluster } = kc ?? {}
  const methods = [applySecurityAuthentication, applyToHTTPSOptions, getCurrentCluster]
  if (methods.every((method) => typeof method === 'function')) return
  throw new TypeError('attach() takes a KubeConfig of @kubernetes/client-node 1.x or 2.x')
}

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
const ATTACH_OPTIONS: readonly string[] = Object.keys({
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

/** What we need of a `KubeConfig` of @kubernetes/client-node to send its requests, 1.x and 2.x alike. */
export interface KubeConfigLike extends ReadableKubeConfig {
  /** Called for every request of the generated APIs; in 2.x for watches and logs too. */
  applySecurityAuthentication(context: RequestContextLike): Promise<void>
  /** Called for WebSockets; in 1.x for watches and logs too. */
  applyToHTTPSOptions(options: HttpsOptionsLike): Promise<void>
}

/** A request of a generated API on its way: 1.x takes an agent, 2.x a dispatcher. */
export interface RequestContextLike {
  getHeaders(): Record<string, string>
  setHeaderParam(name: string, value: string): void
  setAgent?(agent: Agent): void
  setDispatcher?(dispatcher: object): void
}

/** Options of Node's client or of a WebSocket. */
export interface HttpsOptionsLike {
  agent?: unknown
  headers?: unknown
}
