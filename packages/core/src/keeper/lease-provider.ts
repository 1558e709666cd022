import type { Refusal } from '../credential/credential.ts'
import { ForeignOriginError } from '../errors/index.ts'
import type { SourceLabel } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report } from '../sources/source.ts'
import type { Lease } from './lease.ts'
import type { ResourceCache } from './resource-cache.ts'
import type { KeeperStatus } from './status.ts'

/** Which lease a request needs, and how long it may wait for one. */
export interface LeaseOptions {
  /** The server it must be for; any server if undefined. */
  readonly origin?: string
  /** The deadline for waiting for logins, shared by all tries of the request; if undefined, each try has its own. */
  readonly deadline?: WaitDeadline
}

/** Until when one request may wait for logins. Shared by all its tries, and set when it first waits. */
export interface WaitDeadline {
  /** Milliseconds since the epoch. */
  until?: number
}

/**
 * Provides leases and receives the server's verdict on them: one keeper, or a vault with several.
 *
 * This is all that transports know about where credentials come from.
 */
export interface LeaseProvider {
  readonly label: SourceLabel
  /** Resources that outlive a single credential. */
  readonly shared: ResourceCache
  /** How many times one request may be sent again because its credential was refused. */
  readonly maxRetries: number
  /** Returns a lease at once if a usable credential is held, else a promise of one. */
  lease(signal?: AbortSignal, options?: LeaseOptions): Lease | Promise<Lease>
  /** Reports a refusal and waits for another credential; resolves to undefined if there is none. */
  replace(
    refused: Lease,
    refusal: Refusal,
    signal?: AbortSignal,
    options?: LeaseOptions,
  ): Promise<Lease | undefined>
  /** Reports a refusal without waiting. */
  reject(refused: Lease, refusal: Refusal): void
  /**
   * Reports that the server accepted a lease.
   *
   * @param date The response's `Date` header.
   */
  accept(lease: Lease, date?: string | string[]): void
  /** Closes the connections of this scope once their requests are done. */
  drain(scope: string): void
  /**
   * Acquires a new credential at the caller's request. Requests use the current one meanwhile.
   *
   * @throws {CredentialError} If the run failed. An aborted signal rejects with its reason.
   */
  renew(signal?: AbortSignal): Promise<void>
  /** Drops the credential; the next request acquires another. */
  forget(): void
  /** Sends an event to the observers. */
  report(event: Report): void
  /** The secrets of the credentials that are held, to remove them from text. */
  readonly secrets: readonly Secret[]
  status(): KeeperStatus
}

/** The server that a client is pinned to. It changes when no login is for it any more. */
export interface ServerPin {
  readonly now: { readonly origin: string }
  /** Called with every lease: its login may verify the same server differently, for example with another CA. */
  hold(lease: Lease): void
  /** Called with a lease for another server once all logins are for other servers. */
  move(lease: Lease): void
}

/**
 * Restricts an access to the leases of one server, for a client that has already chosen it.
 *
 * Once no login is for that server any more, one call fails with `ERR_FOREIGN_ORIGIN` and the pin moves to
 * another server. The next call gets a lease for that one.
 */
export function pinToServer(access: LeaseProvider, pin: ServerPin): LeaseProvider {
  const pinned = (options: LeaseOptions | undefined): LeaseOptions => ({
    origin: pin.now.origin,
    ...options,
  })
  const onLease = (lease: Lease): Lease => {
    pin.hold(lease)
    return lease
  }
  const onError = (error: unknown): never => {
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
      return lease instanceof Promise ? lease.then(onLease, onError) : onLease(lease)
    },
    async replace(refused, refusal, signal, options) {
      const better = await access.replace(refused, refusal, signal, pinned(options)).catch(onError)
      return better && onLease(better)
    },
    reject: (refused, refusal) => access.reject(refused, refusal),
    accept: (lease, date) => access.accept(lease, date),
    renew: (signal) => access.renew(signal),
    forget: () => access.forget(),
    drain: (scope) => access.drain(scope),
    report: (event) => access.report(event),
    get secrets() {
      return access.secrets
    },
    status: () => access.status(),
  }
}
