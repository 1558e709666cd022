import type { Readable } from 'node:stream'
import type { Cluster } from 'kubecred'

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
  upgrade?(place: { namespace: string; pod: string; signal?: AbortSignal }): Promise<Upgraded>
  close(): Promise<void>
}

/** How the behaviour table drives one transport. */
export interface Driver {
  readonly name: string
  /** Cells that cannot hold, and why. Such a cell is still run where that makes sense: see the table. */
  readonly cannot?: Partial<Record<Case, string>>
  /** Set when only an upgraded connection can stay open: then that is what goes on where others watch. */
  readonly streamsAreUpgrades?: true
  /** @param cluster Made by `connect()` from `kubeconfig`; drivers of other clients load the file themselves. */
  open(cluster: Cluster, kubeconfig: string): Promise<Opened>
}
