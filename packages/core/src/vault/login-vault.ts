import { ClosedError, ForeignOriginError, LoginError, type LoginOutcome } from '../errors/index.ts'
import type { Held } from '../lifecycle/state.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto } from '../ports/crypto.ts'
import type { CredentialEvent, Observer, SourceLabel } from '../ports/observer.ts'
import type { ExecResponse } from '../protocol/encode-exec-info.ts'
import type { Report } from '../sources/source.ts'
import type { Access, Wish } from './access.ts'
import { choose } from './choose.ts'
import { Derived } from './derived.ts'
import { FrozenQueue } from './frozen-queue.ts'
import type { Keeper } from './keeper.ts'
import type { Kept, Lease } from './lease.ts'
import { outcomeOf } from './login-outcome.ts'
import { RefusedLogins } from './refused-logins.ts'
import type { KeeperStatus } from './status.ts'
import { Watchers } from './watchers.ts'

/** Limits of a vault. */
export interface VaultPolicy {
  /** How long a request may wait for a login. */
  readonly freezeLimitMs: number
  /** How many may wait at once. */
  readonly queueLimit: number
}

export const DEFAULT_VAULT: VaultPolicy = { freezeLimitMs: 60_000, queueLimit: 10_000 }

/** How a vault is doing, as plain data without secrets. */
export interface VaultStatus extends KeeperStatus {
  /** Requests that wait for a login. */
  readonly waiting: number
  /** Every handler's credential. */
  readonly logins: readonly KeeperStatus[]
}

/** What a vault remembers of a lease it gave. */
interface Given {
  readonly keeper: Keeper
  readonly kept: Kept
}

interface Ports {
  readonly clock: Clock
  readonly crypto: Crypto
}

/** The least time between two looks at handlers that may not run yet. */
const SHORTEST_LOOK_MS = 20

/**
 * The credentials of several login handlers, one keeper each.
 *
 * A request gets one of the highest priority that no server has refused. When nothing is left, requests
 * freeze, all handlers are asked, and the first good answer thaws them.
 */
export class LoginVault implements Access {
  readonly label: SourceLabel = { kind: 'vault', name: 'login handlers' }
  readonly lasting = new Derived()
  readonly mostRetries = Number.POSITIVE_INFINITY
  readonly #keepers: readonly Keeper[]
  readonly #ports: Ports
  readonly #policy: VaultPolicy
  readonly #refused = new RefusedLogins()
  readonly #queue: FrozenQueue
  readonly #watchers = new Watchers(this.label)
  readonly #given = new WeakMap<Lease, Given>()
  readonly #stopWatching: (() => void)[]
  #cancelLook: () => void = () => {}
  #frozenAt: number | undefined
  #isClosed = false

  constructor(keepers: readonly Keeper[], ports: Ports, policy: VaultPolicy = DEFAULT_VAULT) {
    this.#keepers = keepers
    this.#ports = ports
    this.#policy = policy
    this.#queue = new FrozenQueue(ports.clock, policy.queueLimit)
    this.#stopWatching = keepers.map((keeper) => keeper.watch((event) => this.#heard(event)))
  }

  /** Whether nothing is left to use. */
  get isDepleted(): boolean {
    return this.#usable({}).length === 0
  }

  lease(signal?: AbortSignal, wish: Wish = {}): Lease | Promise<Lease> {
    return this.#pick(wish) ?? this.#freeze(signal, wish)
  }

  async replace(
    refused: Lease,
    response: ExecResponse,
    signal?: AbortSignal,
    wish: Wish = {},
  ): Promise<Lease | undefined> {
    this.reject(refused, response)
    return this.lease(signal, wish)
  }

  reject(refused: Lease, response: ExecResponse): void {
    const given = this.#given.get(refused)
    if (given === undefined) return
    this.#refused.add(given.kept, response.code, this.#ports.clock.now())
    given.keeper.reject(given.kept, response)
    if (this.isDepleted) this.report({ type: 'depleted' })
  }

  accept(lease: Lease, date?: string | string[]): void {
    const given = this.#given.get(lease)
    if (given === undefined) return
    this.#refused.forget(given.kept)
    given.keeper.accept(given.kept, date)
  }

  leave(scope: string): void {
    for (const keeper of this.#keepers) keeper.leave(scope)
  }

  report(event: Report): void {
    this.#watchers.report(event)
  }

  /** Adds somebody who wants to know what happens, here and in every handler. Returns how to leave. */
  watch(observer: Observer): () => void {
    const stops = [
      this.#watchers.add(observer, undefined),
      ...this.#keepers.map((keeper) => keeper.watch(observer)),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** How it is doing as a whole, and every handler by itself. */
  status(): VaultStatus {
    const logins = this.#keepers.map((keeper) => keeper.status())
    const isRunning = logins.some(({ state }) => state === 'running')
    const state = this.#isClosed ? 'closed' : isRunning ? 'running' : 'failed'
    return {
      source: this.label,
      state: this.isDepleted || this.#isClosed ? state : 'ready',
      runs: logins.reduce((sum, { runs }) => sum + runs, 0),
      waiting: this.#queue.size,
      logins,
    }
  }

  /** How every handler is doing. */
  outcomes(): LoginOutcome[] {
    const now = this.#ports.clock.now()
    return this.#keepers.map((keeper) => {
      const { held } = keeper
      return outcomeOf(keeper, held !== undefined && this.#refused.has(held.credential, now))
    })
  }

  /** Ends everything: logins, those who wait, and every connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelLook()
    this.#queue.close(new ClosedError())
    for (const stop of this.#stopWatching) stop()
    this.#watchers.close()
    await Promise.all([
      this.lasting.destroy(new ClosedError()),
      ...this.#keepers.map((keeper) => keeper.close()),
    ])
  }

  #pick(wish: Wish): Lease | undefined {
    if (this.#isClosed) throw new ClosedError()
    const random = (this.#ports.crypto.jitter() + 1) / 2
    const chosen = choose(this.#usable(wish), random)
    if (chosen === undefined) return undefined
    const { keeper, kept } = chosen
    this.#refused.take(kept, this.#ports.clock.now())
    // So that it is known to be in use, and renewed ahead of its end.
    keeper.request()
    this.#given.set(kept, { keeper, kept })
    return kept
  }

  #usable({ origin }: Wish): (Given & { readonly priority: number })[] {
    const now = this.#ports.clock.now()
    return this.#keepers.flatMap((keeper) => {
      const { held } = keeper
      if (held === undefined || !this.#isUsable(held, now)) return []
      const kept = held.credential
      if (origin !== undefined && originOf(kept) !== origin) return []
      return [{ keeper, kept, priority: kept.endpoint?.priority ?? 0 }]
    })
  }

  #isUsable({ credential, expiresAt }: Held<Kept>, now: number): boolean {
    return now < expiresAt && !this.#refused.has(credential, now)
  }

  /** Waits with the others until there is something to use, for as long as a request may. */
  async #freeze(signal: AbortSignal | undefined, wish: Wish): Promise<Lease> {
    this.#checkKnown(wish)
    const until = this.#ports.clock.now() + this.#policy.freezeLimitMs
    this.#noteFrozen()
    try {
      for (;;) {
        this.#askAll()
        await this.#queue.wait(until, signal, () => this.#giveUp())
        const lease = this.#pick(wish)
        if (lease !== undefined) return lease
      }
    } finally {
      this.#noteThawed()
    }
  }

  /** @throws {ForeignOriginError} When everybody is logged in, and nobody at this server. */
  #checkKnown({ origin }: Wish): void {
    if (origin === undefined) return
    const origins = this.#keepers.map(({ held }) => held && originOf(held.credential))
    if (origins.includes(undefined) || origins.includes(origin)) return
    throw new ForeignOriginError(`no login is for ${origin}`, {
      hint: 'Pass a path, or a URL of a server that a login handler names.',
    })
  }

  #giveUp(): LoginError {
    const seconds = this.#policy.freezeLimitMs / 1000
    const error = new LoginError(this.outcomes(), `nobody could log in within ${seconds} s`)
    this.report({ type: 'failed', error })
    return error
  }

  /** Asks every handler that may be asked, and looks again when the next one may. */
  #askAll(): void {
    const now = this.#ports.clock.now()
    for (const keeper of this.#keepers) {
      const { held } = keeper
      const isExcluded = held !== undefined && this.#refused.has(held.credential, now)
      // A refused one is asked for something better; everything else for what is missing.
      if (isExcluded) keeper.reject(held.credential, { code: 401, header: {} })
      else keeper.request()
    }
    this.#cancelLook()
    const next = Math.min(...this.#keepers.map((keeper) => this.#nextLookAt(keeper, now)))
    if (!Number.isFinite(next)) return
    this.#cancelLook = this.#ports.clock.after(Math.max(next - now, SHORTEST_LOOK_MS), () =>
      this.#queue.release(),
    )
  }

  /** When a keeper that does nothing now may do something; a run tells by itself when it ends. */
  #nextLookAt(keeper: Keeper, now: number): number {
    const { nextTryAt, state } = keeper.status()
    if (state === 'running') return Number.POSITIVE_INFINITY
    const excludedUntil = keeper.held && this.#refused.endOf(keeper.held.credential)
    return Math.min(
      nextTryAt !== undefined && nextTryAt > now ? nextTryAt : now + 1000,
      excludedUntil ?? Number.POSITIVE_INFINITY,
    )
  }

  #heard({ type }: CredentialEvent): void {
    if (type === 'run-succeeded' || type === 'run-failed') this.#queue.release()
  }

  #noteFrozen(): void {
    if (this.#frozenAt !== undefined) return
    this.#frozenAt = this.#ports.clock.now()
    this.report({ type: 'frozen' })
  }

  #noteThawed(): void {
    if (this.#queue.size > 0 || this.#frozenAt === undefined || this.isDepleted) return
    this.report({ type: 'thawed', frozenMs: this.#ports.clock.now() - this.#frozenAt })
    this.#frozenAt = undefined
  }
}

function originOf({ endpoint }: Kept): string | undefined {
  const server = endpoint?.cluster.server
  return server === undefined ? undefined : /^https?:\/\/[^/]+/.exec(server)?.[0]
}
