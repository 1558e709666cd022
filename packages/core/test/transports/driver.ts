import type { Readable } from 'node:stream'
import type { Cluster, ConnectOptions } from 'kubecred'
import type { Vault } from 'kubecred/vault'

/** The rows of the behaviour table. */
export const CASES = [
  'cold herd',
  'warm',
  'expiry',
  '401 once',
  '401 forever',
  'revoked mid-stream',
  'certificate rotated',
  'certificate refused in the handshake',
  'CA rotated',
  "caller's own Authorization",
  'POST with a string',
  'POST with a Buffer',
  'POST with a stream',
  'upgrade',
  'upgrade refused once',
  'abort',
  'proxy',
  'redirect to another origin',
  'server restart',
] as const

export type Case = (typeof CASES)[number]

export interface Sent {
  /** `GET` by default. */
  readonly method?: string
  /** Begins with a slash. */
  readonly path: string
  /** The server, such as `https://127.0.0.1:6443`; by default the cluster's own. */
  readonly server?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | Readable
  readonly signal?: AbortSignal
}

export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
}

/** An upgraded connection: a WebSocket to `exec`, or raw bytes after `Upgrade: SPDY/3.1`. */
export interface Upgraded {
  /** Sends text to an echo, and returns what arrives. */
  echo(text: string): Promise<string>
  close(): Promise<void>
}

/** A client that sends requests with our credentials. */
export interface Opened {
  /** Resolves with every response, whatever its status. Rejects if there is none. */
  send(request: Sent): Promise<Got>
  /** Opens `/api/v1/namespaces/NAMESPACE/pods/POD/exec`. Rejects if the server refuses. */
  upgrade?(place: {
    server?: string
    namespace: string
    pod: string
    signal?: AbortSignal
  }): Promise<Upgraded>
  close(): Promise<void>
}

/** What the cluster of a driver is made from, for clients that do that themselves. */
export interface Beginning {
  /** Has the server and its CA; without a vault also the user. */
  readonly kubeconfig: string
  /** Set if login handlers provide the credentials. */
  readonly vault?: Vault
  /** Makes another cluster of the same kind. */
  connect(options: Pick<ConnectOptions, 'transport'>): Promise<Cluster>
}

/** How the behaviour table drives one transport. */
export interface Driver {
  readonly name: string
  /** Cases that the transport does not support, and why. They are still run if possible: see the table. */
  readonly cannot?: Partial<Record<Case, string>>
  /** Set if only upgraded connections can stay open; they are then used in place of watches. */
  readonly streamsAreUpgrades?: true
  /** Set if a request may have only a path, so that its server is chosen with the credential. */
  readonly takesPaths?: true
  /** How the client passes on one of our errors, such as a `LoginError`. */
  readonly tellsErrors: 'as it is' | 'as the cause' | 'by code and message' | undefined
  /** Further cases that are not supported with a vault. */
  readonly cannotOnVault?: Partial<Record<Case, string>>
  /** Set if the credentials come from a vault. */
  readonly isOnVault?: true
  /** Set if the login handlers of the vault return signing keys. */
  readonly onlySigns?: true
  /** Cases that are not supported with signing keys; replaces `cannot`. */
  readonly cannotWhereKeysSign?: Partial<Record<Case, string>>
  /** The maximum number of signatures for 20 requests: one after the other, and all at once. One each by default. */
  readonly signatures?: { readonly inTurn: number; readonly atOnce: number; readonly why: string }
  /** @param cluster From `connect()`; drivers of other clients load the kubeconfig themselves. */
  open(cluster: Cluster, from: Beginning): Promise<Opened>
}

/** The path of requests that could go anywhere; it cannot be read without a credential. */
export const NAMESPACES = '/api/v1/namespaces'

/** What a plugin returns in cases about certificates, if this transport supports them. */
export function strongest({ cannot }: Driver): 'token' | 'both' {
  return cannot?.['certificate rotated'] === undefined ? 'both' : 'token'
}

/** Whether the caller gets a refusal, and only the next request has a new credential. */
export function returnsRefusals({ cannot }: Driver): boolean {
  return cannot?.['401 once'] !== undefined
}

/** Whether requests can have a body. */
export function takesBodies({ streamsAreUpgrades }: Driver): boolean {
  return streamsAreUpgrades !== true
}
