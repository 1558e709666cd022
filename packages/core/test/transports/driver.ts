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
  /** GET unless told. */
  readonly method?: string
  /** Begins with a slash. */
  readonly path: string
  /** The server that is meant, such as `https://127.0.0.1:6443`; the cluster's own unless told. */
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

/** A connection that an upgrade gave: a WebSocket to `exec`, or raw bytes after `Upgrade: SPDY/3.1`. */
export interface Upgraded {
  /** Sends text to something that echoes, and gives back what came. */
  echo(text: string): Promise<string>
  close(): Promise<void>
}

/** A client of some kind, with our credential engine behind it. */
export interface Opened {
  /** Rejects when there is no answer; an answer of 400 or more is one. */
  send(request: Sent): Promise<Got>
  /** Opens `/api/v1/namespaces/NAMESPACE/pods/POD/exec`. Rejects with an error when the server refuses. */
  upgrade?(place: {
    server?: string
    namespace: string
    pod: string
    signal?: AbortSignal
  }): Promise<Upgraded>
  close(): Promise<void>
}

/** Where the cluster of a driver comes from, for clients that begin there themselves. */
export interface Beginning {
  /** Names the server, and whom to trust; without a vault also the user. */
  readonly kubeconfig: string
  /** Set where login handlers give the credentials. */
  readonly vault?: Vault
  /** Makes one more cluster of the same kind. */
  connect(options: Pick<ConnectOptions, 'transport'>): Promise<Cluster>
}

/** How the behaviour table drives one transport. */
export interface Driver {
  readonly name: string
  /** Cells that cannot hold, and why. Such a cell is still run where that makes sense: see the table. */
  readonly cannot?: Partial<Record<Case, string>>
  /** Set when only an upgraded connection can stay open: then that is what goes on where others watch. */
  readonly streamsAreUpgrades?: true
  /** Set when a request may name a path alone: then its server is chosen with the credential. */
  readonly takesPaths?: true
  /** How the client hands on an error of ours, such as a `LoginError`. */
  readonly tellsErrors: 'as it is' | 'as the cause' | 'by code and message' | undefined
  /** Cells that cannot hold on a vault, beside those that cannot hold at all. */
  readonly cannotOnVault?: Partial<Record<Case, string>>
  /** Set when the credentials come from a vault. */
  readonly isOnVault?: true
  /** Set when private keys only sign: the login handlers of the vault hand out no others. */
  readonly onlySigns?: true
  /** Cells that cannot hold then, in place of those that cannot hold otherwise. */
  readonly cannotWhereKeysSign?: Partial<Record<Case, string>>
  /** The most signatures that 20 requests cost: one after the other, and all at once. One each unless told. */
  readonly signatures?: { readonly inTurn: number; readonly atOnce: number; readonly why: string }
  /** @param cluster Made by `connect()`; drivers of other clients load the kubeconfig themselves. */
  open(cluster: Cluster, from: Beginning): Promise<Opened>
}

/** Where every request goes that could go anywhere: only somebody with a credential may read it. */
export const NAMESPACES = '/api/v1/namespaces'

/** What a credential is made of where a certificate matters, if this transport has any. */
export function strongest({ cannot }: Driver): 'token' | 'both' {
  return cannot?.['certificate rotated'] === undefined ? 'both' : 'token'
}

/** Whether a refusal is handed back to the caller, and only the next request has another credential. */
export function handsRefusalsBack({ cannot }: Driver): boolean {
  return cannot?.['401 once'] !== undefined
}

/** Whether requests can have a body. */
export function takesBodies({ streamsAreUpgrades }: Driver): boolean {
  return streamsAreUpgrades !== true
}
