import type { Credential, Refusal } from '../credential/credential.ts'
import type { Endpoint } from '../kubeconfig/connection.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import type { Reason } from '../lifecycle/state.ts'
import type { CredentialEvent, SourceLabel } from '../ports/observer.ts'

type WithoutSource<E> = E extends unknown ? Omit<E, 'source'> : never
/** An event as a source or keeper reports it, before its source label is added. */
export type Report = WithoutSource<CredentialEvent>

/** What a source gets for one run: the reason, the signal and the event sink. */
export interface AcquireContext {
  readonly reason: Reason
  /** How the server refused the last credential. */
  readonly refusal?: Refusal | undefined
  /** Aborted only when the keeper closes: a caller that gives up does not stop a run. */
  readonly signal: AbortSignal
  readonly report: (event: Report) => void
}

/** Produces a credential on demand. */
export interface Source {
  readonly label: SourceLabel
  /** The lifecycle policy of this source, where it differs from the default. */
  readonly lifecycle?: Partial<LifecyclePolicy>
  /** Calls back when a newer credential is available. Returns a function that stops watching. */
  readonly watch?: (onChange: () => void) => () => void
  /** @throws {CredentialError} */
  acquire(ask: AcquireContext): Promise<Acquired>
}

/** A credential as a source returns it. */
export interface Acquired {
  readonly credential: Credential
  /** Milliseconds since the epoch; `Infinity` if it has no expiry. */
  readonly expiresAt: number
  /** The server to use it with, if it is not the one of the connection. */
  readonly endpoint?: Endpoint
}
