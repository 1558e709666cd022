import type { ProxiedRequest } from './api/proxy.ts'
import type { Forbid } from './server/authorize.ts'
import type { Answer } from './server/send.ts'

/** How a sandbox behaves. Everything has a default. */
export interface SandboxOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined
  /** Speaks plain HTTP in place of HTTPS; client certificates are then impossible. */
  readonly http?: boolean | undefined
  /** Offers HTTP/2 beside HTTP/1.1, as kube-apiserver does (the default); only over TLS. */
  readonly http2?: boolean | undefined
  /** Ends the TLS handshake of a client without a good certificate. */
  readonly requireClientCertificate?: boolean | undefined
  /** Signs client certificates with an authority of their own, not the server's. */
  readonly separateClientAuthority?: boolean | undefined
  /** Whether a request without a credential is `system:anonymous` (the default) or refused. */
  readonly anonymous?: boolean | undefined
  /** Passwords by user name. Without any, basic authentication does not exist. */
  readonly basic?: Readonly<Record<string, string>> | undefined
  /** Refuses with 403 what would otherwise be allowed. */
  readonly forbid?: Forbid | undefined
  /** Answers requests to the proxy subresource of pods, services and nodes. */
  readonly proxied?: ((request: ProxiedRequest) => Answer | Promise<Answer>) | undefined
  /** How far the server's clock is ahead: in the Date header and in every expiry. */
  readonly clockSkewMs?: number | undefined
  /** The time in milliseconds, for tests that move it; the system's unless told. */
  readonly now?: (() => number) | undefined
  /** How often a watch that asked for bookmarks gets one; 60 seconds unless told. */
  readonly bookmarkIntervalMs?: number | undefined
  /** How many changes a watch can start behind; 1,000 unless told. */
  readonly watchWindow?: number | undefined
}
