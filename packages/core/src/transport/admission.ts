import type { Access, Wish } from '../vault/access.ts'
import type { Lease } from '../vault/lease.ts'
import type { Gate, Passage } from './gate.ts'
import type { Outgoing } from './outgoing.ts'
import { isStreaming, type Place } from './target.ts'

/** What a request has to pass before it is sent. */
export interface Entrance {
  readonly gate: Gate
  readonly keeper: Access
}

/** A request that may go: its place, and the credential it is sent with. */
export interface Admitted {
  readonly passage: Passage
  readonly lease: Lease
}

/**
 * A place at the gate, and a credential taken only then: it may have changed while the request waited.
 *
 * Nobody keeps a place while they wait for a credential: others may have theirs already.
 *
 * @param given A credential taken just now: good if there is a place at once.
 */
export function admit(
  { gate, keeper }: Entrance,
  place: Place,
  outgoing: Outgoing,
  wish: Wish | undefined,
  given?: Lease,
): Admitted | Promise<Admitted> {
  const way = enter(gate, place, outgoing)
  const lend = (passage: Passage, taken?: Lease): Admitted | Promise<Admitted> => {
    try {
      const lease = taken ?? keeper.lease(outgoing.signal, wish)
      if (!(lease instanceof Promise)) return { passage, lease }
      passage.done()
      return lease.then((late) => admit({ gate, keeper }, place, outgoing, wish, late))
    } catch (error) {
      passage.done()
      throw error
    }
  }
  return way instanceof Promise ? way.then((passage) => lend(passage)) : lend(way, given)
}

/** A place at the gate: at once if there is one, else when it is the request's turn. */
export function enter(gate: Gate, place: Place, outgoing: Outgoing): Passage | Promise<Passage> {
  return staysOpen(place, outgoing) ? gate.openStream() : gate.enter(outgoing.signal)
}

/** Whether the answer is a stream: then it counts with the streams. */
export function staysOpen(place: Place, { isStream }: Outgoing): boolean {
  return isStream ?? isStreaming(place)
}
