import type { Refusal } from '../credential/refusal.ts'
import { ClosedError, isCredentialError } from '../errors/index.ts'
import { AbortableQueue } from '../lifecycle/abortable-queue.ts'
import { DEFAULT_LIFECYCLE, type LifecyclePolicy } from '../lifecycle/policy.ts'
import {
  type Effect,
  type Event,
  emptyState,
  type HeldCredential,
  type Reason,
  type State,
} from '../lifecycle/state.ts'
import { step, verdict } from '../lifecycle/state-machine.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto } from '../ports/crypto.ts'
import type { Observer, ProcessEnd, SourceLabel } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Report, Source } from '../sources/source.ts'
import { ClockWarnings } from './clock-warnings.ts'
import {
  acquiredFacts,
  type HeldLease,
  type Lease,
  leaseSecrets,
  makeLease,
  readVerdict,
  validityOf,
  withNextTry,
} from './lease.ts'
import type { LeaseProvider } from './lease-provider.ts'
import { type KeeperListener, type RunResult, reportUnexpected, Watchers } from './observers.ts'
import { Connections, ResourceCache } from './resource-cache.ts'
import { describeState, type KeeperStatus } from './status.ts'

/**
 * Keeps one source's credential: performs what the state machine decides.
 *
 * One run at a time, however many ask. Callers come and go with their signals; a run ends only by
 * itself, by its limit or with `close()`, and its answer is kept.
 */
export class Keeper implements LeaseProvider {
  /** After one refusal we ask for a better credential; after two the trouble is not the credential. */
  readonly maxRetries = 1
  readonly #source: Source
  readonly #ports: KeeperPorts
  readonly #policy: LifecyclePolicy
  readonly #watchers: Watchers
  readonly #listeners = new Set<KeeperListener>()
  /** Callers that wait for the run in flight to end. */
  readonly #waiting = new AbortableQueue<void>()
  readonly #life = new AbortController()
  /** What belongs to the identity as a whole and outlives a single credential. */
  readonly shared = new ResourceCache()
  readonly #connections: Connections
  #state: State<HeldLease> = emptyState()
  /** The last credential we got, also when it has expired. */
  #last: HeldLease | undefined
  #refusal: Refusal | undefined
  #failed: { readonly ticket: number; readonly error: unknown } | undefined
  readonly #alarm: Alarm
  readonly #clockWarnings: ClockWarnings
  #stopWatching: (() => void) | undefined
  #lastRunMs: number | undefined
  #runs = 0

  constructor(source: Source, ports: KeeperPorts, policy: Partial<LifecyclePolicy> = {}) {
    this.#source = source
    this.#watchers = new Watchers(source.label)
    this.#ports = ports
    this.#policy = { ...DEFAULT_LIFECYCLE, ...policy, ...source.lifecycle }
    this.#alarm = new Alarm(ports.clock, () => this.#send({ type: 'woke' }))
    this.#clockWarnings = new ClockWarnings(ports.clock, (event) => this.report(event))
    this.#connections = new Connections(this.shared, ports.clock, this.#policy.drainLimitMs)
  }

  get label(): SourceLabel {
    return this.#source.label
  }

  /** Adds an observer, for people and metrics. Returns how to remove it. */
  watch(observer: Observer): () => void {
    return this.#watchers.add(observer, validityOf(this.#last?.credential.certificate))
  }

  /** Adds code that depends on what happens here. Returns how to remove it. */
  subscribe(listener: KeeperListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The credential to use now: at once when we hold a good one, else when the run that fetches it ends. */
  lease(signal?: AbortSignal): Lease | Promise<Lease> {
    const { held } = this.#state
    const now = this.#ports.clock.now()
    // The common case, without going through the machine: in use, far from its end, nothing wrong with it.
    if (held?.isUsed && now < held.refreshAt && now < held.expiresAt && !held.isRefused) {
      return held.credential
    }
    signal?.throwIfAborted()
    this.#send({ type: 'requested' })
    return this.#answer() ?? this.#wait(signal)
  }

  /** What is held now, whatever its state; asking changes nothing. */
  get held(): HeldCredential<HeldLease> | undefined {
    return this.#state.held
  }

  get secrets(): readonly Secret[] {
    return leaseSecrets(this.#state.held?.credential, this.#last)
  }

  /** Why the last run failed; undefined after one that did not. */
  get lastError(): unknown {
    return this.#state.lastError
  }

  /** Whether a run is in flight, also while what is held serves. */
  get isRunning(): boolean {
    return this.#state.attempt !== undefined
  }

  /** Asks for a run if one is due, without waiting for it. */
  request(): void {
    this.#send({ type: 'requested' })
  }

  /** Reports that the server refused a lease. A newer credential is not touched by it. */
  reject(refused: Lease, refusal: Refusal): void {
    this.#reportRefusal(refused, refusal)
    this.askBetter(refused, refusal)
  }

  /** Asks for something better than a refused lease; the caller must have reported the refusal. */
  askBetter(refused: Lease, refusal: Refusal): void {
    if (this.#state.held?.ticket !== refused.ticket) return
    this.#refusal = refusal
    this.#send({ type: 'rejected', ticket: refused.ticket })
  }

  /**
   * Reports that the server refused a lease, and waits for a better one.
   *
   * Undefined means that there is none: the plugin gave the same again, failed, or may not run yet.
   * Then the server's own answer is the best there is.
   *
   * @throws What `lease()` throws, if the refused one has expired meanwhile and no other can be had.
   */
  async replace(
    refused: Lease,
    refusal: Refusal,
    signal?: AbortSignal,
  ): Promise<Lease | undefined> {
    this.#reportRefusal(refused, refusal)
    return this.waitForBetter(refused, refusal, signal)
  }

  /** Does the same as `replace()` for a caller that has reported the refusal. */
  async waitForBetter(
    refused: Lease,
    refusal: Refusal,
    signal?: AbortSignal,
  ): Promise<Lease | undefined> {
    this.askBetter(refused, refusal)
    const isStillHeld = this.#state.held?.ticket === refused.ticket
    if (isStillHeld && this.#state.attempt !== undefined) await this.#waiting.wait(signal)
    if (this.#state.held?.ticket === refused.ticket) return undefined
    // Another one is held, or none: the refused one may have expired while the request was on its way.
    return this.lease(signal)
  }

  /**
   * Notes that the server took a lease. Costs nothing while nothing is wrong.
   *
   * @param date The response's `Date` header, from which we learn whose clock is wrong.
   */
  accept(lease: Lease, date?: string | string[]): void {
    const { held, refusals, stale } = this.#state
    if (stale > 0 && typeof date === 'string') this.#clockWarnings.noteDate(date)
    if (refusals === 0 && held?.isRefused !== true) return
    this.#send({ type: 'accepted', ticket: lease.ticket })
  }

  async renew(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.#send({ type: 'renew' })
    const { attempt } = this.#state
    if (attempt !== undefined) await this.#waiting.wait(signal)
    if (this.#state.isClosed) throw new ClosedError()
    if (this.#failed !== undefined && this.#failed.ticket === attempt?.ticket)
      throw this.#failed.error
  }

  forget(): void {
    this.#send({ type: 'forget' })
    // Also where connections are not bound to it: the next one shall begin with its own.
    if (this.#last !== undefined) this.#connections.retire(this.#last.derived, undefined)
    this.#last = undefined
  }

  status(): KeeperStatus {
    return describeState(this.#state, {
      source: this.label,
      runs: this.#runs,
      lastRunMs: this.#lastRunMs,
      now: this.#ports.clock.now(),
    })
  }

  /** Ends everything at once: the run, those who wait for it, and every connection. */
  async close(): Promise<void> {
    const closed = new ClosedError()
    this.#listeners.clear()
    this.#send({ type: 'closed' })
    this.#alarm.cancel()
    this.#stopWatching?.()
    this.#life.abort(closed)
    this.#watchers.close()
    await this.#connections.destroy(closed)
  }

  /** Lets connections to a server end with what is in flight: from now on it is to be checked in another way. */
  leave(scope: string): void {
    this.#connections.leave(scope)
  }

  report(event: Report): void {
    this.#watchers.report(event)
  }

  #reportRefusal({ ticket }: Lease, { status }: Refusal): void {
    if (this.#state.held?.ticket === ticket) this.report({ type: 'refused', status })
  }

  #answer(): Lease | undefined {
    return readVerdict(verdict(this.#state, this.#ports.clock.now()))
  }

  async #wait(signal?: AbortSignal): Promise<Lease> {
    for (;;) {
      const { attempt } = this.#state
      await this.#waiting.wait(signal)
      const failed = this.#failed
      // The error of the run we waited for is ours, unless a run that can ask a person may do better.
      if (failed !== undefined && failed.ticket === attempt?.ticket && attempt.reason !== 'ahead') {
        throw withNextTry(failed.error, this.#state.pausedUntil)
      }
      this.#send({ type: 'requested' })
      const lease = this.#answer()
      if (lease !== undefined) return lease
    }
  }

  #send(event: Event<HeldLease>): void {
    const before = this.#state
    const [next, ...effects] = step(before, event, this.#ports.clock.now(), this.#policy)
    this.#state = next
    for (const effect of effects) this.#perform(effect, before)
    const settled = before.attempt !== undefined && next.attempt === undefined
    if (settled || next.isClosed) this.#waiting.releaseAll()
  }

  #perform(effect: Effect, before: State<HeldLease>): void {
    switch (effect.do) {
      case 'acquire':
        void this.#run(effect.ticket, effect.reason)
        break
      case 'retire':
        this.#retire(before.held?.credential)
        break
      case 'wake':
        this.#alarm.set(effect.at)
        break
      case 'warn-stale':
        this.#clockWarnings.noteStale(effect.expiresAt)
        break
      case 'abort':
        // `close()` aborts the lifetime of every run.
        break
    }
  }

  /** Never rejects: a plugin's failure is an event, not the end of the process. */
  async #run(ticket: number, reason: Reason): Promise<void> {
    const { clock, crypto } = this.#ports
    const startedAt = clock.now()
    const took = (): number => Math.max(0, clock.now() - startedAt)
    this.#runs += 1
    for (const { onStarted } of this.#listeners) onStarted?.()
    this.report({ type: 'run-started', reason, ahead: reason === 'ahead' })
    const refusal = reason === 'refused' ? this.#refusal : undefined
    // Before the source is read: a change between the read and the start of the watch would go unnoticed.
    this.#stopWatching ??= this.#source.watch?.(() => this.#send({ type: 'changed' }))
    let ended: { readonly process?: ProcessEnd } = {}
    try {
      const acquired = await this.#source.acquire({
        reason,
        refusal,
        signal: this.#life.signal,
        report: (event) => {
          if (event.type === 'plugin-ended') ended = { process: event.process }
          this.report(event)
        },
      })
      const old = this.#last
      const lease = makeLease(ticket, acquired, crypto, old)
      const isSame = lease.digest === this.#state.held?.credential.digest
      this.#connections.add(lease.derived)
      const tookMs = took()
      this.#lastRunMs = tookMs
      this.#send({
        type: 'acquired',
        ticket,
        credential: lease,
        expiresAt: acquired.expiresAt,
        certificate: acquired.credential.certificate,
        isSame,
        tookMs,
        jitter: crypto.jitter(),
      })
      if (!isSame) this.#last = lease
      if (old !== undefined)
        this.#connections.retire(old.derived, this.#state.held?.credential.derived)
      this.#settle({ credential: acquired.credential, isSame })
      this.report({
        type: 'run-succeeded',
        reason,
        tookMs,
        isSame,
        ...ended,
        ...acquiredFacts(acquired, lease, old),
      })
    } catch (error) {
      this.#lastRunMs = took()
      this.#failed = { ticket, error }
      this.#send({ type: 'failed', ticket, error, jitter: crypto.jitter() })
      this.#settle({ error })
      if (!isCredentialError(error)) {
        if (!this.#state.isClosed) reportUnexpected(this, error)
        return
      }
      const facts = { tookMs: took(), nextTryAt: this.#state.pausedUntil, ...ended }
      this.report({ type: 'run-failed', reason, error, ...facts })
    }
  }

  #settle(result: RunResult): void {
    for (const { onSettled } of this.#listeners) onSettled?.(result)
  }

  #retire(old: HeldLease | undefined): void {
    if (old === undefined) return
    for (const { onRetired } of this.#listeners) onRetired?.()
    this.report({ type: 'retired' })
    // Connections are bound to a certificate, not to a token: the next token may use them too.
    if (old.credential.certificate === undefined) return
    this.#connections.retire(old.derived, this.#state.held?.credential.derived)
  }
}

/** What of the world a keeper needs. */
export interface KeeperPorts {
  readonly clock: Clock
  readonly crypto: Crypto
}

/** The longest a timer waits before the wall clock is read again: it may have been set, or the machine slept. */
const MAX_TIMER_MS = 3_600_000

/** One timer that is set again and again. It may ring early: the callback looks at the clock. */
export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #cancel: () => void = () => {}

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  set(at: number): void {
    this.#cancel()
    const wait = Math.min(Math.max(at - this.#clock.now(), 0), MAX_TIMER_MS)
    this.#cancel = this.#clock.after(wait, this.#ring)
  }

  cancel(): void {
    this.#cancel()
  }
}
