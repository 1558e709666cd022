import type { Credential } from '../credential/credential.ts'
import type { Refusal } from '../credential/refusal.ts'
import type { Endpoint } from '../kubeconfig/connection.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import type { Reason } from '../lifecycle/state.ts'
import type { CredentialEvent, SourceLabel } from '../ports/observer.ts'

type WithoutSource<E> = E extends unknown ? Omit<E, 'source'> : never
/** An event as a source or keeper reports it, before it is told whose it is. */
export type Report = WithoutSource<CredentialEvent>

/** Why and how a credential is asked for. */
export interface AcquireContext {
  readonly reason: Reason
  /** How the last credential was refused. */
  readonly refusal?: Refusal | undefined
  /** Ends only with the keeper itself: callers come and go without stopping a run. */
  readonly signal: AbortSignal
  readonly report: (event: Report) => void
}

/** Something that can produce a credential on demand. */
export interface Source {
  readonly label: SourceLabel
  /** What is special about keeping this source's credential fresh. */
  readonly lifecycle?: Partial<LifecyclePolicy>
  /** Calls back when it has something newer than it last gave. Returns how to stop. */
  readonly watch?: (onChange: () => void) => () => void
  /** @throws {CredentialError} */
  acquire(ask: AcquireContext): Promise<Acquired>
}

/** A credential as a source hands it over. */
export interface Acquired {
  readonly credential: Credential
  /** Milliseconds since the epoch; `Infinity` when the issuer set no expiry. */
  readonly expiresAt: number
  /** Where it is to be used, if not where the connection says. */
  readonly endpoint?: Endpoint
}
