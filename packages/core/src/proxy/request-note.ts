/** What became of one request that came to the proxy. No header, no body, no query: those may be secret. */
export interface RequestNote {
  /** When it came, in milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** Without its query. */
  readonly path: string
  /** What the client was answered; 0 when it left before. */
  readonly status: number
  /** Until the head of the answer; for an upgrade, until the protocol changed. */
  readonly tookMs: number
  readonly isUpgrade: boolean
  /** Who answered: the server, or the proxy, which then says why. */
  readonly refusedFor?: string
}
