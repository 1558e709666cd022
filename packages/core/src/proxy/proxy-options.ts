import type { UnexpectedError } from '../errors/index.ts'
import type { HasLine, Line } from '../request/line.ts'
import { Secret } from '../secret/secret.ts'
import {
  type Authenticate,
  type Authentication,
  admitBySecret,
  admitByToken,
  admitEveryone,
} from './authenticate.ts'
import type { ProxyLimits } from './limits.ts'
import type { EndedRequest, RequestSummary } from './request-record.ts'
import type { ProxyRules } from './rules.ts'

/** Options of `ClusterProxy`. */
export interface ProxyOptions {
  /** The connection whose server and credential are used. */
  readonly cluster: HasLine
  /** Accepted values of the Host header, such as `127.0.0.1:8001`. Use `any` for unix sockets only. */
  readonly hosts: readonly string[] | 'any'
  /** What clients must send as `Authorization: Bearer …`. Omit it for unix sockets, and with `authenticate`. */
  readonly secret?: string | undefined
  /**
   * Finds out who a client is by its own token, which it sends as `Authorization: Bearer …` in place of a secret:
   * `reviewTokens(cluster)`. The token is never forwarded.
   */
  readonly authenticate?: Authenticate | undefined
  /**
   * Sends every request as its caller, with `Impersonate-*` headers, so that the caller's own rights count and the
   * audit log of the server has its name. Needs `authenticate`. By default, all requests use the rights of the cluster's
   * own credential.
   */
  readonly impersonateCallers?: boolean | undefined
  /** Which requests are allowed; by default those that `kubectl proxy` allows. */
  readonly rules?: ProxyRules | undefined
  /** The path under which the API is served; by default `/`. */
  readonly prefix?: string | undefined
  /** Limits for clients; see `ProxyLimits` for the defaults. */
  readonly limits?: ProxyLimits | undefined
  /** Called for every request when its response begins. */
  readonly onRequest?: ((note: RequestSummary) => void) | undefined
  /** Called for every request when its response has ended, also for bytes that are not a request: for an access log. */
  readonly onRequestEnd?: ((note: EndedRequest) => void) | undefined
  /**
   * Called for every internal error, with the id that is in the response. By default, the first error with each id
   * is emitted as a process warning. The observer of the cluster receives all of them as events.
   */
  readonly onError?: ((error: UnexpectedError) => void) | undefined
}

export function readHosts(hosts: readonly string[] | 'any'): readonly string[] | 'any' {
  if (hosts === 'any' || (Array.isArray(hosts) && hosts.length > 0)) return hosts
  throw new TypeError(
    'hosts must be "any" or a list of at least one host, such as "127.0.0.1:8001"',
  )
}

/** Rejects an empty or short secret, which is most likely a mistake. */
export function checkSecret(secret: string): Secret {
  if (/^[!-~]{16,}$/.test(secret)) return new Secret(secret)
  throw new TypeError('secret must have at least 16 printable ASCII characters without spaces')
}

export function readAuthentication(
  { secret, authenticate, hosts }: ProxyOptions,
  secrets: () => readonly Secret[],
): Authentication {
  if (authenticate === undefined && secret === undefined && hosts !== 'any') {
    throw new TypeError(
      'secret or authenticate is required unless hosts is "any", as for a unix socket',
    )
  }
  if (authenticate === undefined)
    return secret === undefined ? admitEveryone : admitBySecret(secrets)
  if (secret === undefined) return admitByToken(authenticate)
  throw new TypeError('secret and authenticate cannot be combined: a client can send only one')
}

/** Two impersonations of one request would contradict each other, and one of them could give more rights. */
export function readImpersonation(
  { impersonateCallers = false, authenticate, rules }: ProxyOptions,
  { defaults }: Line,
): boolean {
  if (!impersonateCallers) return false
  if (authenticate === undefined) throw new TypeError('impersonateCallers needs authenticate')
  if (rules?.allowImpersonation) {
    throw new TypeError('impersonateCallers and rules.allowImpersonation cannot be combined')
  }
  if (defaults['impersonate-user'] === undefined) return true
  throw new TypeError(
    'impersonateCallers cannot be combined with the impersonation of a kubeconfig',
  )
}

export function readPrefix(prefix = '/'): string {
  const whole = prefix.endsWith('/') ? prefix : `${prefix}/`
  if (whole === '/' || /^(?:\/[\w~:-][\w.~:-]*)+\/$/.test(whole)) return whole
  throw new TypeError('prefix must be a path, such as "/" or "/cluster/"')
}
