import type { Refusal } from '../credential/refusal.ts'
import { ClosedError, LoginError, type LoginOutcome } from '../errors/index.ts'
import type { Keeper } from '../keeper/keeper.ts'
import type { HeldLease, Lease } from '../keeper/lease.ts'
import type { LeaseOptions, LeaseProvider } from '../keeper/lease-provider.ts'
import { type RunResult, Watchers } from '../keeper/observers.ts'
import { ResourceCache } from '../keeper/resource-cache.ts'
import { type Observer, type SourceLabel, VAULT_LOAD, type VaultLoad } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report } from '../sources/source.ts'
import type { RegisteredHandler } from './log-in.ts'
import { choose, type HandlerPorts, LoginHandlers, type Usable } from './login-handlers.ts'
import { FreezeReporter, FrozenQueue } from './login-queue.ts'
import type { LoginLog } from './login-source.ts'
import { VaultObservers } from './vault-observers.ts'
import type { VaultStatus } from './vault-status.ts'

/** Limits of a vault, and what it reports. */
export interface VaultPolicy {
  /** How long a request may wait for a login. */
  readonly freezeLimitMs: number
  /** How many may wait at once. */
  readonly queueLimit: number
  /** How long a login that is ready first waits for others that may have a higher priority. */
  readonly priorityGraceMs: number
  readonly log: LoginLog
}

export const DEFAULT_VAULT: VaultPolicy = {
  freezeLimitMs: 60_000,
  queueLimit: 10_000,
  priorityGraceMs: 250,
  log: 'all',
}

/** What a vault remembers of a lease it gave. */
interface Given {
  readonly keeper: Keeper
  readonly lease: HeldLease
}

/** Counted as a refusal where `refreshOn` says so; it is about what may be done, not about who asks. */
const FORBIDDEN = 403

/**
 * The least time between two looks at handlers, and before a request fails for which nothing can come: a program that
 * sends again in a loop must not starve itself.
 */
const MIN_LOOK_MS = 20

/**
 * The credentials of several login handlers, one keeper each.
 *
 * A request gets one of the highest priority that no server has refused. When nothing is left, requests
 * freeze, all handlers are asked once, and the first good answer thaws them. When the logins of all handlers
 * have ended without one, the requests fail.
 */
export class VaultAccess implements LeaseProvider {
  readonly label = vaultLabel(() => ({
    waiting: this.#queue.size,
    excluded: this.#handlers.excluded,
    isFrozen: this.#reporter.frozenSince !== undefined,
  }))
  readonly shared = new ResourceCache()
  readonly maxRetries = Number.POSITIVE_INFINITY
  readonly #handlers: LoginHandlers
  readonly #ports: HandlerPorts
  readonly #policy: VaultPolicy
  readonly #queue: FrozenQueue
  readonly #reporter: FreezeReporter
  readonly #watchers = new Watchers(this.label)
  readonly #observers = new VaultObservers()
  readonly #given = new WeakMap<Lease, Given>()
  #cancelLook: () => void = () => {}
  /** When waiting requests look again; `Infinity` if no look is planned. */
  #nextLookAt = Number.POSITIVE_INFINITY
  /** Until when a login of a higher priority may still overtake the first one that was ready. */
  #graceUntil = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(
    handlers: readonly RegisteredHandler[],
    ports: HandlerPorts,
    policy: VaultPolicy = DEFAULT_VAULT,
  ) {
    this.#ports = ports
    this.#policy = policy
    this.#queue = new FrozenQueue(ports.clock, policy.queueLimit)
    this.#reporter = new FreezeReporter((event) => this.report(event), ports.clock)
    this.#handlers = new LoginHandlers(handlers, policy.log, ports, {
      observe: (keeper) => this.#observers.add(keeper),
      onRetry: () => this.#noteRetry(),
      onSettled: (result) => this.#noteSettled(result),
      onRetired: (keeper) => this.#noteExpired(keeper),
    })
    for (const keeper of this.#handlers.keepers) this.#observers.add(keeper)
  }

  /** Whether nothing is left to use. */
  get isDepleted(): boolean {
    return this.#handlers.isDepleted
  }

  lease(signal?: AbortSignal, options: LeaseOptions = {}): Lease | Promise<Lease> {
    return this.#pick(options) ?? this.#freeze(signal, options)
  }

  async replace(
    refused: Lease,
    refusal: Refusal,
    signal?: AbortSignal,
    options: LeaseOptions = {},
  ): Promise<Lease | undefined> {
    const given = this.#given.get(refused)
    // Forbidden is not unknown: another login is no better answer, only a newer one of the same may be.
    if (refusal.status === FORBIDDEN && given !== undefined) {
      this.#handlers.countRefusal(given.keeper, given.lease)
      const better = await given.keeper.replace(given.lease, refusal, signal)
      return better && this.#give(given.keeper, better as HeldLease)
    }
    this.reject(refused, refusal)
    return this.lease(signal, options)
  }

  reject(refusedLease: Lease, refusal: Refusal): void {
    const given = this.#given.get(refusedLease)
    if (given === undefined) return
    const { keeper, lease } = given
    const counts = this.#handlers.countRefusal(keeper, lease)
    if (refusal.status === FORBIDDEN) {
      keeper.reject(lease, refusal)
      return
    }
    const { refused } = this.#handlers
    this.#handlers.noteRefusal(keeper, refusal)
    refused.add(lease, refusal.status, this.#ports.clock.now())
    if (counts) {
      const excludedUntil = refused.endOf(lease)
      keeper.report({
        type: 'refused',
        status: refusal.status,
        ...(lease.endpoint && { server: lease.endpoint.cluster.server }),
        ...(excludedUntil !== undefined && { excludedUntil }),
      })
    }
    if (this.isDepleted) this.#reporter.noteDepleted()
    keeper.askBetter(lease, refusal)
  }

  accept(lease: Lease, date?: string | string[]): void {
    const given = this.#given.get(lease)
    if (given === undefined) return
    // What one request tried for all is good again: those who wait need not wait for a login.
    if (this.#handlers.refused.forget(given.lease)) this.#queue.release()
    given.keeper.accept(given.lease, date)
    this.#reporter.noteUsable()
    this.#noteThawed()
  }

  renew(signal?: AbortSignal): Promise<void> {
    return this.#handlers.renew(signal)
  }

  forget(): void {
    for (const keeper of this.#handlers.keepers) keeper.forget()
  }

  leave(scope: string): void {
    for (const keeper of this.#handlers.keepers) keeper.leave(scope)
  }

  report(event: Report): void {
    this.#watchers.report(event)
  }

  get secrets(): readonly Secret[] {
    return this.#handlers.keepers.flatMap((keeper) => keeper.secrets)
  }

  /** Adds an observer of what happens here, in every handler and in what logins share with others. Returns how to remove it. */
  watch(observer: Observer): () => void {
    const stops = [this.#watchers.add(observer, undefined), this.#observers.watch(observer)]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** How it is doing as a whole, and every handler by itself. */
  status(): VaultStatus {
    const logins = this.#handlers.statuses()
    const isRunning = logins.some(({ state }) => state === 'running')
    const state = this.#isClosed ? 'closed' : isRunning ? 'running' : 'failed'
    const { frozenSince } = this.#reporter
    return {
      source: this.label,
      state: this.isDepleted || this.#isClosed ? state : 'ready',
      runs: logins.reduce((sum, { runs }) => sum + runs, 0),
      waiting: this.#queue.size,
      ...(frozenSince !== undefined && { frozenSince }),
      logins,
    }
  }

  /** How the last login of every handler ended. */
  outcomes(): LoginOutcome[] {
    return this.#handlers.outcomes()
  }

  /** Ends everything: logins, those who wait, and every connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelLook()
    this.#queue.close(new ClosedError())
    this.#watchers.close()
    await Promise.all([
      this.shared.destroy(new ClosedError()),
      ...this.#handlers.keepers.map((keeper) => keeper.close()),
    ])
  }

  #pick(options: LeaseOptions): Lease | undefined {
    if (this.#isClosed) throw new ClosedError()
    const random = (this.#ports.crypto.jitter() + 1) / 2
    const chosen = choose(this.#handlers.usable(options), random)
    if (chosen === undefined || this.#isInGrace(chosen, options)) return undefined
    const { keeper, lease } = chosen
    this.#handlers.refused.take(lease, this.#ports.clock.now())
    // So that it is known to be in use, and renewed ahead of its end.
    keeper.request()
    this.#handlers.askMissing()
    return this.#give(keeper, lease)
  }

  #give(keeper: Keeper, lease: HeldLease): Lease {
    this.#given.set(lease, { keeper, lease })
    return lease
  }

  /** Whether a login that may have a higher priority is worth a short wait. */
  #isInGrace({ priority }: Usable, options: LeaseOptions): boolean {
    if (this.#ports.clock.now() >= this.#graceUntil || this.#queue.isFull) return false
    return this.#handlers.mayOvertake(priority, options)
  }

  /** Waits with the others until there is something to use, for as long as a request may and something can come. */
  async #freeze(signal: AbortSignal | undefined, options: LeaseOptions): Promise<Lease> {
    const { patience = {} } = options
    patience.until ??= this.#ports.clock.now() + this.#policy.freezeLimitMs
    const { until } = patience
    this.#handlers.checkKnown(options)
    this.#handlers.askAll()
    let failsAt = Number.POSITIVE_INFINITY
    try {
      for (;;) {
        const isPossible = this.#handlers.mayHelp(options)
        // The earliest of all rounds: a look in vain must not prolong the wait.
        failsAt = isPossible
          ? Number.POSITIVE_INFINITY
          : Math.min(failsAt, this.#ports.clock.now() + MIN_LOOK_MS)
        const hasUsable = this.#handlers.usable(options).length > 0
        this.#lookAgainAt(hasUsable ? this.#graceUntil : this.#handlers.nextLookAt())
        const what = isPossible
          ? `no login within ${this.#policy.freezeLimitMs / 1000} s`
          : noLogin(options)
        const limit = Math.min(until, failsAt)
        const waited = this.#queue.wait(limit, signal, () => this.#giveUp(what))
        // Who came with an ended signal, or found no place, does not wait.
        if (this.#queue.size > 0 && isPossible && !hasUsable) this.#reporter.noteFrozen()
        await waited
        const lease = this.#pick(options)
        if (lease !== undefined) return lease
        this.#handlers.askUnanswered()
      }
    } finally {
      this.#noteThawed()
    }
  }

  #giveUp(what: string): LoginError {
    const now = this.#ports.clock.now()
    const outcomes = this.outcomes()
    const error = new LoginError(outcomes, what, { now })
    const next = Math.min(...outcomes.map((each) => nextTryOf(each, now)))
    if (Number.isFinite(next) && next > now) error.nextTryAt = next
    this.report({ type: 'failed', error })
    return error
  }

  /** Lets waiting requests look again when something changes that no event reports: at the earliest such time of all. */
  #lookAgainAt(time: number): void {
    const now = this.#ports.clock.now()
    const at = Math.max(time, now + MIN_LOOK_MS)
    // A look that is overdue does not count: the clock was set forward.
    const isPlanned = now <= this.#nextLookAt && this.#nextLookAt <= at
    if (isPlanned || !Number.isFinite(at)) return
    this.#cancelLook()
    this.#nextLookAt = at
    this.#cancelLook = this.#ports.clock.after(at - now, () => {
      this.#nextLookAt = Number.POSITIVE_INFINITY
      this.#queue.release()
    })
  }

  #noteRetry(): void {
    // The grace is for first attempts.
    if (this.#ports.clock.now() < this.#graceUntil) this.#queue.release()
  }

  #noteSettled(result: RunResult): void {
    if (!('error' in result)) {
      if (this.isDepleted) this.#reporter.noteDepleted()
      else this.#noteLogin()
    }
    this.#letGoOn()
  }

  /** Something can be used. If it is the first, the others get a moment to come before it is. */
  #noteLogin(): void {
    if (!this.#reporter.hasUsable) {
      this.#graceUntil = this.#ports.clock.now() + this.#policy.priorityGraceMs
    }
    this.#reporter.noteUsable()
  }

  #letGoOn(): void {
    // A waiting request reports by itself that it goes on. If all have left, it is reported after the login.
    if (this.#queue.size === 0) void Promise.resolve().then(() => this.#noteThawed())
    this.#queue.release()
  }

  /** A credential left; this says so if its time was up. */
  #noteExpired(keeper: Keeper): void {
    const { history } = this.#handlers
    const { heldUntil, last } = history.of(keeper.label)
    if (heldUntil === undefined || this.#ports.clock.now() < heldUntil) return
    history.noteHeld(keeper.label, undefined)
    keeper.report({ type: 'expired', server: last?.server ?? '', expiresAt: heldUntil })
    if (this.isDepleted) this.#reporter.noteDepleted()
  }

  #noteThawed(): void {
    if (this.#reporter.frozenSince === undefined || this.#queue.size > 0 || this.isDepleted) return
    this.#reporter.noteThawed()
  }
}

/** One that failed and need not pause is asked again by the next request. */
function nextTryOf({ nextTryAt, result }: LoginOutcome, now: number): number {
  const isOver = result === 'failed' || result === 'nothing'
  return nextTryAt ?? (isOver ? now : Number.POSITIVE_INFINITY)
}

function noLogin({ origin }: LeaseOptions): string {
  return `no login handler could log in${origin === undefined ? '' : ` at ${origin}`}`
}

/** The label of a vault. Metrics read how busy it is from a symbol, which is never printed. */
export function vaultLabel(load: () => VaultLoad): SourceLabel {
  const label: SourceLabel = { kind: 'vault', name: 'login handlers' }
  return Object.defineProperty(label, VAULT_LOAD, { value: load })
}
