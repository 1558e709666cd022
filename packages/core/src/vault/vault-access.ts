import type { Refusal } from '../credential/credential.ts'
import { ClosedError, LoginError, type LoginOutcome } from '../errors/index.ts'
import type { Keeper } from '../keeper/keeper.ts'
import type { HeldLease, Lease } from '../keeper/lease.ts'
import type { LeaseOptions, LeaseProvider } from '../keeper/lease-provider.ts'
import { ObserverSet, type RunResult } from '../keeper/observers.ts'
import { ResourceCache } from '../keeper/resource-cache.ts'
import { type Observer, type SourceLabel, VAULT_LOAD, type VaultLoad } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report } from '../sources/source.ts'
import type { RegisteredHandler } from './log-in.ts'
import { choose, type HandlerPorts, LoginHandlers, type UsableLogin } from './login-handlers.ts'
import { FreezeReporter, LoginQueue } from './login-queue.ts'
import type { LoginLog } from './login-source.ts'
import { VaultObservers } from './vault-observers.ts'
import type { VaultStatus } from './vault-status.ts'

/** The limits of a vault, and what it reports. */
export interface VaultPolicy {
  /** How long a request may wait for a login. */
  readonly freezeLimitMs: number
  /** How many requests may wait at once. */
  readonly queueLimit: number
  /** How long the first login waits for others that may have a higher priority. */
  readonly priorityGraceMs: number
  readonly log: LoginLog
}

export const DEFAULT_VAULT: VaultPolicy = {
  freezeLimitMs: 60_000,
  queueLimit: 10_000,
  priorityGraceMs: 250,
  log: 'all',
}

/** The handler's lease behind a lease that the vault issued. */
interface IssuedLease {
  readonly keeper: Keeper
  readonly lease: HeldLease
}

/** Counts as a refusal only if `refreshOn` has it: it is about authorization, not authentication. */
const FORBIDDEN = 403

/**
 * The minimum time between two checks of the handlers, and before a request fails that no handler can serve: a program
 * that retries in a loop must not block its event loop.
 */
const MIN_CHECK_MS = 20

/**
 * The credentials of several login handlers, with one keeper each.
 *
 * A request gets a credential of the highest priority that is not excluded. If none is usable, requests freeze and every
 * handler logs in once; the first usable credential thaws them. If all logins end without one, the requests fail.
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
  readonly #queue: LoginQueue
  readonly #reporter: FreezeReporter
  readonly #watchers = new ObserverSet(this.label)
  readonly #observers = new VaultObservers()
  readonly #issued = new WeakMap<Lease, IssuedLease>()
  #cancelCheck: () => void = () => {}
  /** When waiting requests check again; `Infinity` if no check is planned. */
  #nextCheckAt = Number.POSITIVE_INFINITY
  /** Until when a login of a higher priority may still overtake the first one. */
  #graceUntil = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(
    handlers: readonly RegisteredHandler[],
    ports: HandlerPorts,
    policy: VaultPolicy = DEFAULT_VAULT,
  ) {
    this.#ports = ports
    this.#policy = policy
    this.#queue = new LoginQueue(ports.clock, policy.queueLimit)
    this.#reporter = new FreezeReporter((event) => this.report(event), ports.clock)
    this.#handlers = new LoginHandlers(handlers, policy.log, ports, {
      observe: (keeper) => this.#observers.add(keeper),
      onRetry: () => this.#noteRetry(),
      onSettled: (result) => this.#noteSettled(result),
      onRetired: (keeper) => this.#noteExpired(keeper),
    })
    for (const keeper of this.#handlers.keepers) this.#observers.add(keeper)
  }

  /** Whether no credential is usable. */
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
    const issued = this.#issued.get(refused)
    // 403 is about authorization: another handler's login must not stand in, only a newer one of the same handler.
    if (refusal.status === FORBIDDEN && issued !== undefined) {
      this.#handlers.countRefusal(issued.keeper, issued.lease)
      const better = await issued.keeper.replace(issued.lease, refusal, signal)
      return better && this.#issue(issued.keeper, better as HeldLease)
    }
    this.reject(refused, refusal)
    return this.lease(signal, options)
  }

  reject(refusedLease: Lease, refusal: Refusal): void {
    const issued = this.#issued.get(refusedLease)
    if (issued === undefined) return
    const { keeper, lease } = issued
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
    keeper.requestBetter(lease, refusal)
  }

  accept(lease: Lease, date?: string | string[]): void {
    const issued = this.#issued.get(lease)
    if (issued === undefined) return
    // The excluded credential is accepted again: waiting requests can use it without a login.
    if (this.#handlers.refused.forget(issued.lease)) this.#queue.release()
    issued.keeper.accept(issued.lease, date)
    this.#reporter.noteUsable()
    this.#noteThawed()
  }

  renew(signal?: AbortSignal): Promise<void> {
    return this.#handlers.renew(signal)
  }

  forget(): void {
    for (const keeper of this.#handlers.keepers) keeper.forget()
  }

  drain(scope: string): void {
    for (const keeper of this.#handlers.keepers) keeper.drain(scope)
  }

  report(event: Report): void {
    this.#watchers.report(event)
  }

  get secrets(): readonly Secret[] {
    return this.#handlers.keepers.flatMap((keeper) => keeper.secrets)
  }

  /** Adds an observer of the vault, its handlers and the keepers that its logins share. Returns a function that removes it. */
  watch(observer: Observer): () => void {
    const stops = [this.#watchers.add(observer, undefined), this.#observers.watch(observer)]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** Returns the status of the vault and of every handler. */
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

  /** Returns how the last login of every handler ended. */
  outcomes(): LoginOutcome[] {
    return this.#handlers.outcomes()
  }

  /** Ends logins, rejects waiting requests and closes every connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelCheck()
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
    this.#handlers.refused.noteTry(lease, this.#ports.clock.now())
    // Marks it as in use, so that it is renewed ahead of its expiry.
    keeper.request()
    this.#handlers.requestMissing()
    return this.#issue(keeper, lease)
  }

  #issue(keeper: Keeper, lease: HeldLease): Lease {
    this.#issued.set(lease, { keeper, lease })
    return lease
  }

  /** Whether to wait a moment for a login that may have a higher priority. */
  #isInGrace({ priority }: UsableLogin, options: LeaseOptions): boolean {
    if (this.#ports.clock.now() >= this.#graceUntil || this.#queue.isFull) return false
    return this.#handlers.mayOvertake(priority, options)
  }

  /** Waits until a credential is usable, until the request's deadline, or until no handler can provide one. */
  async #freeze(signal: AbortSignal | undefined, options: LeaseOptions): Promise<Lease> {
    const { deadline = {} } = options
    deadline.until ??= this.#ports.clock.now() + this.#policy.freezeLimitMs
    const { until } = deadline
    this.#handlers.checkOrigin(options)
    this.#handlers.requestAll()
    let failsAt = Number.POSITIVE_INFINITY
    try {
      for (;;) {
        const isPossible = this.#handlers.canStillHelp(options)
        // The earliest of all rounds: a further check must not prolong the wait.
        failsAt = isPossible
          ? Number.POSITIVE_INFINITY
          : Math.min(failsAt, this.#ports.clock.now() + MIN_CHECK_MS)
        const hasUsable = this.#handlers.usable(options).length > 0
        this.#checkAgainAt(hasUsable ? this.#graceUntil : this.#handlers.nextCheckAt())
        const what = isPossible
          ? `no login within ${this.#policy.freezeLimitMs / 1000} s`
          : noLogin(options)
        const limit = Math.min(until, failsAt)
        const waited = this.#queue.wait(limit, signal, () => this.#giveUp(what))
        // A request with an aborted signal, or one that found the queue full, does not wait.
        if (this.#queue.size > 0 && isPossible && !hasUsable) this.#reporter.noteFrozen()
        await waited
        const lease = this.#pick(options)
        if (lease !== undefined) return lease
        this.#handlers.requestUnfailed()
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

  /** Lets waiting requests check again at the earliest time at which something changes that no listener reports. */
  #checkAgainAt(time: number): void {
    const now = this.#ports.clock.now()
    const at = Math.max(time, now + MIN_CHECK_MS)
    // A check that is overdue does not count: the clock was set forward.
    const isPlanned = now <= this.#nextCheckAt && this.#nextCheckAt <= at
    if (isPlanned || !Number.isFinite(at)) return
    this.#cancelCheck()
    this.#nextCheckAt = at
    this.#cancelCheck = this.#ports.clock.after(at - now, () => {
      this.#nextCheckAt = Number.POSITIVE_INFINITY
      this.#queue.release()
    })
  }

  #noteRetry(): void {
    // Only first attempts are waited for.
    if (this.#ports.clock.now() < this.#graceUntil) this.#queue.release()
  }

  #noteSettled(result: RunResult): void {
    if (!('error' in result)) {
      if (this.isDepleted) this.#reporter.noteDepleted()
      else this.#noteLogin()
    }
    this.#releaseWaiting()
  }

  /** Notes a usable credential. After the first one, other handlers get a moment to overtake it. */
  #noteLogin(): void {
    if (!this.#reporter.hasUsable) {
      this.#graceUntil = this.#ports.clock.now() + this.#policy.priorityGraceMs
    }
    this.#reporter.noteUsable()
  }

  #releaseWaiting(): void {
    // A waiting request reports the thaw itself. If all have left, it is reported after the login.
    if (this.#queue.size === 0) void Promise.resolve().then(() => this.#noteThawed())
    this.#queue.release()
  }

  /** Reports a retired credential that expired. */
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

/** A handler that failed and has no pause runs again with the next request. */
function nextTryOf({ nextTryAt, result }: LoginOutcome, now: number): number {
  const isOver = result === 'failed' || result === 'nothing'
  return nextTryAt ?? (isOver ? now : Number.POSITIVE_INFINITY)
}

function noLogin({ origin }: LeaseOptions): string {
  return `no login handler could log in${origin === undefined ? '' : ` at ${origin}`}`
}

/** Makes the label of a vault. Metrics read its load from a symbol property, which is never printed. */
export function vaultLabel(load: () => VaultLoad): SourceLabel {
  const label: SourceLabel = { kind: 'vault', name: 'login handlers' }
  return Object.defineProperty(label, VAULT_LOAD, { value: load })
}
