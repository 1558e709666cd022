import type { Refusal } from '../credential/refusal.ts'
import { ForeignOriginError } from '../errors/index.ts'
import type { SourceLabel } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report } from '../sources/source.ts'
import type { Lease } from './lease.ts'
import type { ResourceCache } from './resource-cache.ts'
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
export interface LeaseProvider {
  readonly label: SourceLabel
  /** What outlives a single credential. */
  readonly shared: ResourceCache
  /** How often one request may be sent again because its credential was refused. */
  readonly maxRetries: number
  lease(signal?: AbortSignal, options?: LeaseOptions): Lease | Promise<Lease>
  /** Reports a refusal and waits for something better; undefined if there is nothing. */
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

/** The server that a client has chosen; it may be another one later. */
export interface Pin {
  readonly now: { readonly origin: string }
  /** Called with every lease that is given: its login may check the same server in another way. */
  hold(lease: Lease): void
  /** Called when all logins are for another server. */
  move(lease: Lease): void
}

/**
 * The same access for a client that has chosen a server already: it gets nothing of another one.
 *
 * When no login is for that server any more, one call fails. Then the chosen server is another one, and
 * the next call gets a lease for that one.
 */
export function pinToServer(access: LeaseProvider, pin: Pin): LeaseProvider {
  const pinned = (options: LeaseOptions | undefined): LeaseOptions => ({
    origin: pin.now.origin,
    ...options,
  })
  const held = (lease: Lease): Lease => {
    pin.hold(lease)
    return lease
  }
  const lost = (error: unknown): never => {
    if (error instanceof ForeignOriginError) {
      const other = access.lease(AbortSignal.abort())
      if (other instanceof Promise) other.catch(() => {})
      else pin.move(other)
    }
    throw error
  }
  return {
    label: access.label,
    shared: access.shared,
    maxRetries: access.maxRetries,
    lease(signal, options) {
      const lease = access.lease(signal, pinned(options))
      return lease instanceof Promise ? lease.then(held, lost) : held(lease)
    },
    async replace(refused, refusal, signal, options) {
      const better = await access.replace(refused, refusal, signal, pinned(options)).catch(lost)
      return better && held(better)
    },
    reject: (refused, refusal) => access.reject(refused, refusal),
    accept: (lease, date) => access.accept(lease, date),
    renew: (signal) => access.renew(signal),
    forget: () => access.forget(),
    leave: (scope) => access.leave(scope),
    report: (event) => access.report(event),
    get secrets() {
      return access.secrets
    },
    status: () => access.status(),
  }
}
