import { ForeignOriginError } from '../errors/index.ts'
import type { Access, LeaseOptions } from './access.ts'
import type { Lease } from './lease.ts'

/** The server that somebody takes for theirs; it may be another one later. */
export interface Pin {
  readonly now: { readonly origin: string }
  /** Told of every credential that is given: its login may check the same server in another way. */
  hold(lease: Lease): void
  /** Told that everybody is logged in at another server. */
  move(lease: Lease): void
}

/**
 * The same access for somebody who has chosen a server already: nothing of another one is given to them.
 *
 * When no login is for it any more, they are told so, once. Then the server of now is another one, and
 * who asks again gets what is for that.
 */
export function pinnedAccess(access: Access, pin: Pin): Access {
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
    lasting: access.lasting,
    mostRetries: access.mostRetries,
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
