import type { Lease } from '../vault/lease.ts'
import type { ProcessName } from './wire.ts'

const MOST_CLIENTS = 1000

interface Handed {
  readonly lease: Lease
  readonly expiresAt: number
}

/** Which client was given which credential: one that asks again before its end was refused by the server. */
export class Given {
  readonly #clients = new Map<string, Handed>()

  remember(client: ProcessName | undefined, lease: Lease, expiresAt: number, now: number): void {
    if (client === undefined) return
    const key = keyOf(client)
    this.#clients.delete(key)
    this.#clients.set(key, { lease, expiresAt })
    if (this.#clients.size > MOST_CLIENTS) this.#forget(now)
  }

  /** What the client has and should still be able to use. */
  find(client: ProcessName | undefined, now: number): Lease | undefined {
    const handed = client && this.#clients.get(keyOf(client))
    return handed !== undefined && now < handed.expiresAt ? handed.lease : undefined
  }

  /** The expired ones, or else the one that was served longest ago. */
  #forget(now: number): void {
    for (const [key, { expiresAt }] of this.#clients) {
      if (expiresAt <= now) this.#clients.delete(key)
    }
    const [oldest] = this.#clients.keys()
    if (this.#clients.size > MOST_CLIENTS && oldest !== undefined) this.#clients.delete(oldest)
  }
}

function keyOf({ pid, startedAt }: ProcessName): string {
  return `${pid} ${startedAt ?? ''}`
}
