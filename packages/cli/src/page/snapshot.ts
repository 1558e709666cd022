import type { ClusterStatus } from 'kubecred'

/** What the page shows, as plain data without secrets. Times are milliseconds since the epoch. */
export interface Snapshot {
  /** When it was taken, by the clock of the program. */
  readonly now: number
  /** When the program began to watch; another value means another program, which counts from zero. */
  readonly startedAt: number
  readonly version: string
  /** Where requests may be sent, or what runs; a few words for people. */
  readonly title: string
  readonly identities: readonly IdentityView[]
  /** What the reader has not seen yet, the newest last; bounded. */
  readonly timeline: readonly Moment[]
  readonly traffic: Traffic
}

/** One identity: a cluster connection with its credential. */
export interface IdentityView extends ClusterStatus {
  readonly id: string
  /** A few words for people, such as the name of the context. */
  readonly title: string
  /** What the credential is made of, once there is one. */
  readonly holds?: readonly string[]
  /** What a signer asks a person to do right now. */
  readonly prompt?: string
  /** Since when a plugin or signer has been at work; also while an older credential still serves. */
  readonly runningSince?: number
  /** Times the server said no to a credential. */
  readonly refusals: number
  /** Requests that were sent a second time, after such a no. */
  readonly retried: number
  /** Handshakes signed by a key that is elsewhere. */
  readonly signatures: number
}

/** What kind of thing happened. */
export type MomentKind =
  | 'acquired'
  | 'refreshed'
  | 'refused'
  | 'waiting'
  | 'failed'
  | 'signed'
  | 'warning'
  | 'forgotten'

/** Something that happened to a credential. */
export interface Moment {
  /** Grows by one. */
  readonly number: number
  readonly at: number
  /** The id of the identity, which may be gone by now. */
  readonly identity: string
  /** Its title. */
  readonly title: string
  readonly kind: MomentKind
  /** One sentence without secrets. */
  readonly text: string
  readonly tookMs?: number
  /** Until when the credential is good that came. */
  readonly until?: number
}

/** What went through. */
export interface Traffic {
  readonly total: number
  /** Answered with 400 or more, or not at all. */
  readonly failed: number
  /** Requests and upgrades under way. */
  readonly open: number
  /** Seconds of the last two minutes in which there were requests, the newest last; at most 120. */
  readonly seconds: readonly TrafficSecond[]
  /** Over all of them, in milliseconds; absent when there were none. */
  readonly p50?: number
  readonly p99?: number
}

/** What went through in one second. */
export interface TrafficSecond {
  /** When it began. */
  readonly at: number
  readonly requests: number
  readonly failed: number
  /** In milliseconds. */
  readonly p50: number
  readonly p99: number
}
