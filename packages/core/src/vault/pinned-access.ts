import { ForeignOriginError } from '../errors/index.ts'
import type { Access, Wish } from './access.ts'
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
  const pinned = (wish: Wish | undefined): Wish => ({ origin: pin.now.origin, ...wish })
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
    lease(signal, wish) {
      const lease = access.lease(signal, pinned(wish))
      return lease instanceof Promise ? lease.then(held, lost) : held(lease)
    },
    async replace(refused, response, signal, wish) {
      const better = await access.replace(refused, response, signal, pinned(wish)).catch(lost)
      return better && held(better)
    },
    reject: (refused, response) => access.reject(refused, response),
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
