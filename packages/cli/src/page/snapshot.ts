import type { ClusterStatus } from 'kubecred'

/** What the page shows: plain data without secrets. Times are milliseconds since the epoch. */
export interface Snapshot {
  /** When it was taken, by the clock of the program. */
  readonly now: number
  /** When the program started; if it changes, the program was restarted and its numbers start from zero. */
  readonly startedAt: number
  readonly version: string
  /** A short description of the program for people, such as where the proxy listens. */
  readonly title: string
  readonly identities: readonly IdentityView[]
  /** The events that the reader does not have yet, the newest last; bounded. */
  readonly timeline: readonly TimelineEvent[]
  readonly traffic: Traffic
}

/** One identity: a cluster connection with its credential. */
export interface IdentityView extends ClusterStatus {
  readonly id: string
  /** A name for people, such as that of the context. */
  readonly title: string
  /** The parts of the credential, such as `token`; undefined before there is one. */
  readonly parts?: readonly string[]
  /** What a signer currently asks the user to do. */
  readonly prompt?: string
  /** When the current run of a plugin or signer started; an older credential may still be in use meanwhile. */
  readonly runningSince?: number
  /** How often the server refused the credential. */
  readonly refusals: number
  /** Requests that were sent again after a refusal. */
  readonly retried: number
  /** TLS handshakes signed with an external key. */
  readonly signatures: number
}

/** The kind of a timeline event. */
export type TimelineEventKind =
  | 'acquired'
  | 'refreshed'
  | 'refused'
  | 'waiting'
  | 'failed'
  | 'signed'
  | 'warning'
  | 'forgotten'

/** An event on the timeline of a credential. */
export interface TimelineEvent {
  /** Consecutive, starting from 1. */
  readonly number: number
  readonly at: number
  /** The id of the identity, which may have been removed since. */
  readonly identity: string
  /** The title of the identity. */
  readonly title: string
  readonly kind: TimelineEventKind
  /** One sentence without secrets. */
  readonly text: string
  readonly tookMs?: number
  /** When the new credential expires. */
  readonly until?: number
}

/** Counts of requests. */
export interface Traffic {
  readonly total: number
  /** Requests with a status of 400 or more, or without a response. */
  readonly failed: number
  /** Requests and upgraded connections in flight. */
  readonly open: number
  /** Seconds of the last two minutes in which there were requests, the newest last; at most 120. */
  readonly seconds: readonly TrafficSecond[]
  /** Percentiles over these seconds, in milliseconds; absent if there were no requests. */
  readonly p50?: number
  readonly p99?: number
}

/** The requests of one second. */
export interface TrafficSecond {
  /** The start of the second. */
  readonly at: number
  readonly requests: number
  readonly failed: number
  /** In milliseconds. */
  readonly p50: number
  readonly p99: number
}
