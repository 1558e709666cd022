import type { ProxiedRequest } from './api/proxy.ts'
import type { Forbid } from './server/authorize.ts'
import type { Answer } from './server/send.ts'

/** Options of a sandbox. All have defaults. */
export interface SandboxOptions {
  /** By default 0, which chooses a free port. */
  readonly port?: number | undefined
  /** Serves plain HTTP instead of HTTPS; client certificates are then impossible. */
  readonly http?: boolean | undefined
  /** Offers HTTP/2 in addition to HTTP/1.1, as kube-apiserver does. By default true; only over TLS. */
  readonly http2?: boolean | undefined
  /** Fails the TLS handshake of a client without a valid certificate. */
  readonly requireClientCertificate?: boolean | undefined
  /** Issues client certificates from their own CA, not the server's. */
  readonly separateClientAuthority?: boolean | undefined
  /** Whether a request without a credential is `system:anonymous` (the default) or gets a 401. */
  readonly anonymous?: boolean | undefined
  /** Passwords by user name. By default there is no basic authentication. */
  readonly basic?: Readonly<Record<string, string>> | undefined
  /** Answers requests with 403 that would otherwise be allowed. */
  readonly forbid?: Forbid | undefined
  /** Answers requests to the proxy subresource of pods, services and nodes. */
  readonly onProxyRequest?: ((request: ProxiedRequest) => Answer | Promise<Answer>) | undefined
  /** How far the server's clock is ahead, in the Date header and in every expiry. */
  readonly clockSkewMs?: number | undefined
  /** The current time in milliseconds, for tests that control it; by default `Date.now`. */
  readonly now?: (() => number) | undefined
  /** How often a watch with `allowWatchBookmarks` gets a bookmark; by default every 60 seconds. */
  readonly bookmarkIntervalMs?: number | undefined
  /** How many of the last changes a watch can resume from; by default 1,000. */
  readonly watchWindow?: number | undefined
}
