import type { Refusal } from '../credential/credential.ts'
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
import { type KeeperListener, ObserverSet, type RunResult, reportUnexpected } from './observers.ts'
import { OpenResources, ResourceCache } from './resource-cache.ts'
import { describeState, type KeeperStatus } from './status.ts'

/**
 * Keeps one source's credential fresh by performing what the state machine decides.
 *
 * At most one run is in flight, however many callers wait for it. A caller that aborts does not end the run: it ends by
 * itself, by its time limit or with `close()`, and its result is kept.
 */
export class Keeper implements LeaseProvider {
  /** After one refusal another credential is worth a try; after two the credential is not the problem. */
  readonly maxRetries = 1
  readonly #source: Source
  readonly #ports: KeeperPorts
  readonly #policy: LifecyclePolicy
  readonly #observers: ObserverSet
  readonly #listeners = new Set<KeeperListener>()
  /** Callers that wait for the run in flight to end. */
  readonly #waiting = new AbortableQueue<void>()
  readonly #life = new AbortController()
  /** Resources that belong to the identity and outlive a single credential. */
  readonly shared = new ResourceCache()
  readonly #resources: OpenResources
  #state: State<HeldLease> = emptyState()
  /** The last credential that was acquired, even if it has expired. */
  #last: HeldLease | undefined
  #refusal: Refusal | undefined
  #failed: { readonly ticket: number; readonly error: unknown } | undefined
  readonly #timer: WakeTimer
  readonly #clockWarnings: ClockWarnings
  #stopWatching: (() => void) | undefined
  #lastRunMs: number | undefined
  #runs = 0

  constructor(source: Source, ports: KeeperPorts, policy: Partial<LifecyclePolicy> = {}) {
    this.#source = source
    this.#observers = new ObserverSet(source.label)
    this.#ports = ports
    this.#policy = { ...DEFAULT_LIFECYCLE, ...policy, ...source.lifecycle }
    this.#timer = new WakeTimer(ports.clock, () => this.#send({ type: 'timer-fired' }))
    this.#clockWarnings = new ClockWarnings(ports.clock, (event) => this.report(event))
    this.#resources = new OpenResources(this.shared, ports.clock, this.#policy.drainLimitMs)
  }

  get label(): SourceLabel {
    return this.#source.label
  }

  /** Adds an observer, for people and metrics. Returns a function that removes it. */
  watch(observer: Observer): () => void {
    return this.#observers.add(observer, validityOf(this.#last?.credential.certificate))
  }

  /** Adds a listener, for code that depends on the keeper's state. Returns a function that removes it. */
  subscribe(listener: KeeperListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Returns the credential to use: at once if a good one is held, else when the run that acquires it ends. */
  lease(signal?: AbortSignal): Lease | Promise<Lease> {
    const { held } = this.#state
    const now = this.#ports.clock.now()
    // The common case, without the state machine: in use, not refused, and not in its refresh window.
    if (held?.isUsed && now < held.refreshAt && now < held.expiresAt && !held.isRefused) {
      return held.credential
    }
    signal?.throwIfAborted()
    this.#send({ type: 'requested' })
    return this.#answer() ?? this.#wait(signal)
  }

  /** The credential that is held, whatever its state. Reading it changes nothing. */
  get held(): HeldCredential<HeldLease> | undefined {
    return this.#state.held
  }

  get secrets(): readonly Secret[] {
    return leaseSecrets(this.#state.held?.credential, this.#last)
  }

  /** The error of the last run; undefined if it succeeded. */
  get lastError(): unknown {
    return this.#state.lastError
  }

  /** Whether a run is in flight, including one ahead of expiry. */
  get isRunning(): boolean {
    return this.#state.attempt !== undefined
  }

  /** Starts a run if one is due, without waiting for it. */
  request(): void {
    this.#send({ type: 'requested' })
  }

  /** Reports that the server refused a lease. A newer credential is not affected. */
  reject(refused: Lease, refusal: Refusal): void {
    this.#reportRefusal(refused, refusal)
    this.requestBetter(refused, refusal)
  }

  /** Starts a run to replace a refused lease, if one is due. The caller must have reported the refusal. */
  requestBetter(refused: Lease, refusal: Refusal): void {
    if (this.#state.held?.ticket !== refused.ticket) return
    this.#refusal = refusal
    this.#send({ type: 'rejected', ticket: refused.ticket })
  }

  /**
   * Reports that the server refused a lease, and waits for another credential.
   *
   * Resolves to undefined if there is none: the plugin returned the same credential, failed, or may not run yet. The
   * caller then passes on the server's response.
   *
   * @throws What `lease()` throws, if the refused credential has expired meanwhile and no other is available.
   */
  async replace(
    refused: Lease,
    refusal: Refusal,
    signal?: AbortSignal,
  ): Promise<Lease | undefined> {
    this.#reportRefusal(refused, refusal)
    return this.waitForBetter(refused, refusal, signal)
  }

  /** Like `replace()`, for a caller that has already reported the refusal. */
  async waitForBetter(
    refused: Lease,
    refusal: Refusal,
    signal?: AbortSignal,
  ): Promise<Lease | undefined> {
    this.requestBetter(refused, refusal)
    const isStillHeld = this.#state.held?.ticket === refused.ticket
    if (isStillHeld && this.#state.attempt !== undefined) await this.#waiting.wait(signal)
    if (this.#state.held?.ticket === refused.ticket) return undefined
    // Another one is held, or none: the refused one may have expired while the request was in flight.
    return this.lease(signal)
  }

  /**
   * Reports that the server accepted a lease. Does nothing if no refusal is recorded.
   *
   * @param date The response's `Date` header, to detect clock skew.
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
    // Also the connections that are not bound to it: the next credential must start with new ones.
    if (this.#last !== undefined) this.#resources.retire(this.#last.resources, undefined)
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

  /** Ends the run, rejects the callers that wait for it, and closes every connection, all at once. */
  async close(): Promise<void> {
    const closed = new ClosedError()
    this.#listeners.clear()
    this.#send({ type: 'closed' })
    this.#timer.cancel()
    this.#stopWatching?.()
    this.#life.abort(closed)
    this.#observers.close()
    await this.#resources.destroy(closed)
  }

  /** Closes connections to a server that is verified differently from now on, once their requests are done. */
  drain(scope: string): void {
    this.#resources.drain(scope)
  }

  report(event: Report): void {
    this.#observers.report(event)
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
      // The run's error rejects this caller, except after a run ahead of expiry: the next one may prompt the user.
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
      case 'set-timer':
        this.#timer.set(effect.at)
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
      this.#resources.add(lease.resources)
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
        this.#resources.retire(old.resources, this.#state.held?.credential.resources)
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
    // Connections are bound to a certificate, not to a token: the next token can use them too.
    if (old.credential.certificate === undefined) return
    this.#resources.retire(old.resources, this.#state.held?.credential.resources)
  }
}

/** The ports a keeper needs. */
export interface KeeperPorts {
  readonly clock: Clock
  readonly crypto: Crypto
}

/** The wall clock is read at least this often: it may have been changed, or the machine may have slept. */
const MAX_TIMER_MS = 3_600_000

/** A timer that can be set again. It may fire early, so the callback must read the clock. */
export class WakeTimer {
  readonly #clock: Clock
  readonly #callback: () => void
  #cancel: () => void = () => {}

  constructor(clock: Clock, callback: () => void) {
    this.#clock = clock
    this.#callback = callback
  }

  set(at: number): void {
    this.#cancel()
    const wait = Math.min(Math.max(at - this.#clock.now(), 0), MAX_TIMER_MS)
    this.#cancel = this.#clock.after(wait, this.#callback)
  }

  cancel(): void {
    this.#cancel()
  }
}
