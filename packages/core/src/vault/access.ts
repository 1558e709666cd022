import type { SourceLabel } from '../ports/observer.ts'
import type { Refusal } from '../protocol/refusal.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report } from '../sources/source.ts'
import type { Derived } from './derived.ts'
import type { Lease } from './lease.ts'
import type { KeeperStatus } from './status.ts'

/** What a request needs of a credential. */
export interface LeaseOptions {
  /** The server it must be for; any will do when undefined. */
  readonly origin?: string
  /** How long it may still wait for logins, over all its tries; each try by itself when undefined. */
  readonly patience?: Patience
}

/** Shared by all tries of one request: written when it first waits. */
export interface Patience {
  /** Milliseconds since the epoch. */
  until?: number
}

/**
 * Gives leases, and hears what became of them: one keeper, or a vault with many.
 *
 * It is all that transports know about where credentials come from.
 */
export interface Access {
  readonly label: SourceLabel
  /** What outlives a single credential. */
  readonly lasting: Derived
  /** How often one request may be sent again because its credential was refused. */
  readonly mostRetries: number
  lease(signal?: AbortSignal, options?: LeaseOptions): Lease | Promise<Lease>
  /** Tells of a refusal and waits for something better; undefined when there is nothing. */
  replace(
    refused: Lease,
    refusal: Refusal,
    signal?: AbortSignal,
    options?: LeaseOptions,
  ): Promise<Lease | undefined>
  reject(refused: Lease, refusal: Refusal): void
  accept(lease: Lease, date?: string | string[]): void
  /** Lets connections of this scope end with what is in flight. */
  leave(scope: string): void
  /**
   * Fetches anew when a person asks for it, while what is held still serves.
   *
   * @throws {CredentialError} Why it failed, or the signal's reason.
   */
  renew(signal?: AbortSignal): Promise<void>
  /** Drops what is held; who needs it again fetches it again. */
  forget(): void
  report(event: Report): void
  /** Everything in the credentials that are held that must not show. */
  readonly secrets: readonly Secret[]
  status(): KeeperStatus
}
