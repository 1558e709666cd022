import { type Refusal, UNAUTHORIZED } from '../credential/credential.ts'
import {
  ForeignOriginError,
  isCredentialError,
  LoginError,
  type LoginOutcome,
} from '../errors/index.ts'
import { Keeper, type KeeperPorts } from '../keeper/keeper.ts'
import type { HeldLease } from '../keeper/lease.ts'
import type { LeaseOptions } from '../keeper/lease-provider.ts'
import type { RunResult } from '../keeper/observers.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import type { HeldCredential } from '../lifecycle/state.ts'
import type { Clock } from '../ports/clock.ts'
import type { RegisteredHandler } from './log-in.ts'
import { LoginHistory } from './login-history.ts'
import { type LoginLog, type LoginPorts, LoginSource, type OpenLogin } from './login-source.ts'
import { RefusedLogins } from './refused-logins.ts'
import { describeLogin, type HandlerFacts, type LoginStatus } from './vault-status.ts'

/** A credential of a handler that can be used now. */
export interface UsableLogin extends Candidate {
  readonly keeper: Keeper
  readonly lease: HeldLease
}

/** The ports that login handlers need. */
export interface HandlerPorts extends KeeperPorts {
  readonly open: OpenLogin
  /** Limits for keeping the handlers' credentials fresh. */
  readonly lifecycle?: Partial<LifecyclePolicy> | undefined
}

/** What a vault does when something happens to a handler. Called after the history is updated. */
export interface HandlersListener extends Pick<LoginPorts, 'observe'> {
  /** An attempt failed and will be followed by another. */
  onRetry(): void
  /** A login ended. */
  onSettled(result: RunResult): void
  /** A credential of the handler was retired. */
  onRetired(keeper: Keeper): void
}

/**
 * The handlers of a vault, with one keeper each: which credentials are usable, which are excluded, and the history of
 * each handler.
 */
export class LoginHandlers {
  readonly keepers: readonly Keeper[]
  readonly refused = new RefusedLogins()
  readonly history = new LoginHistory()
  readonly #clock: Clock
  /** The last refusal of each handler's credential. */
  readonly #refusals = new WeakMap<Keeper, Refusal>()

  constructor(
    handlers: readonly RegisteredHandler[],
    log: LoginLog,
    ports: HandlerPorts,
    listener: HandlersListener,
  ) {
    this.#clock = ports.clock
    this.keepers = handlers.map((handler) => this.#makeKeeper(handler, log, ports, listener))
  }

  /** Whether no credential is usable. */
  get isDepleted(): boolean {
    return this.usable({}).length === 0
  }

  /** The number of handlers whose credential is excluded. */
  get excluded(): number {
    return this.keepers.filter((keeper) => this.#excludedUntil(keeper) !== undefined).length
  }

  /** Returns the credentials that a request can use: held, not expired, not excluded, and for its server. */
  usable({ origin }: LeaseOptions): UsableLogin[] {
    const now = this.#clock.now()
    return this.keepers.flatMap((keeper) => {
      const held = heldAt(keeper, now)
      if (held === undefined || this.refused.has(held.credential, now)) return []
      const lease = held.credential
      if (origin !== undefined && originOf(lease) !== origin) return []
      return [{ keeper, lease, priority: lease.endpoint?.priority ?? 0 }]
    })
  }

  /** @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if all handlers that are logged in are so at other servers. */
  checkOrigin({ origin }: LeaseOptions): void {
    if (origin === undefined) return
    const now = this.#clock.now()
    // No handler is logged in anywhere: the origin is not the problem.
    if (this.keepers.every((keeper) => heldAt(keeper, now) === undefined)) return
    const isPossible = this.keepers.some((keeper) => {
      const held = heldAt(keeper, now)
      return held === undefined
        ? !this.#hasReturnedNothing(keeper) || this.#lastOriginOf(keeper) === origin
        : originOf(held.credential) === origin
    })
    if (isPossible) return
    throw new ForeignOriginError(`no login is for ${origin}`, {
      hint: 'Pass a path, or a URL of a server that a login handler returned.',
    })
  }

  /** Starts a login with every handler that may run, including those that failed and whose pause is over. */
  requestAll(): void {
    const now = this.#clock.now()
    for (const keeper of this.keepers) this.#request(keeper, now)
  }

  /** Like `requestAll()`, without handlers whose last login failed: they get one login per wait. */
  requestUnfailed(): void {
    const now = this.#clock.now()
    for (const keeper of this.keepers) if (!hasFailed(keeper)) this.#request(keeper, now)
  }

  /** Whether a handler may still provide a credential for this request without another login after a failure. */
  canStillHelp({ origin }: LeaseOptions): boolean {
    const now = this.#clock.now()
    return this.keepers.some((keeper) => {
      const held = heldAt(keeper, now)
      if (held === undefined) return !hasFailed(keeper)
      if (origin !== undefined && originOf(held.credential) !== origin) return false
      return !hasFailed(keeper) || !this.refused.has(held.credential, now)
    })
  }

  /** Whether a handler is in the first attempt of a login and may return a higher priority than this. */
  mayOvertake(priority: number, { origin }: LeaseOptions): boolean {
    const now = this.#clock.now()
    return this.keepers.some((keeper) => {
      if (!keeper.isRunning || heldAt(keeper, now) !== undefined) return false
      const { retry, last } = this.history.of(keeper.label)
      if (retry !== undefined) return false
      // Server and priority come with a login: before the first one neither is known.
      if (last === undefined) return true
      return last.priority > priority && (origin === undefined || originIn(last.server) === origin)
    })
  }

  /** Returns when the next pause or exclusion ends, which no listener reports; `Infinity` if none does. */
  nextCheckAt(): number {
    const now = this.#clock.now()
    return Math.min(...this.keepers.map((keeper) => this.#nextCheckAt(keeper, now)))
  }

  /** Starts logins with handlers that hold no credential, within their pauses, while requests use others. */
  requestMissing(): void {
    const now = this.#clock.now()
    for (const keeper of this.keepers) if (heldAt(keeper, now) === undefined) keeper.request()
  }

  /** Starts a login with every handler, and succeeds if one of them does. */
  async renew(signal?: AbortSignal): Promise<void> {
    const all = await Promise.allSettled(this.keepers.map((keeper) => keeper.renew(signal)))
    const failed = all.filter((one) => one.status === 'rejected')
    if (failed.length === all.length) throw failed[0]?.reason
  }

  /** Records a refusal, for the next login of the handler. */
  noteRefusal(keeper: Keeper, refusal: Refusal): void {
    this.#refusals.set(keeper, refusal)
  }

  /** Counts a refusal of the credential that a handler holds. Returns false for a late one of a replaced credential. */
  countRefusal({ held, label }: Keeper, { ticket }: HeldLease): boolean {
    if (held?.ticket !== ticket) return false
    this.history.noteRefusal(label)
    return true
  }

  /** Returns the status of every handler. */
  statuses(): LoginStatus[] {
    return this.keepers.map((keeper) => describeLogin(keeper, this.#factsOf(keeper)))
  }

  /** Returns how the last login of every handler ended. */
  outcomes(): LoginOutcome[] {
    return this.keepers.map((keeper) => outcomeOf(keeper, this.#factsOf(keeper)))
  }

  #makeKeeper(
    handler: RegisteredHandler,
    log: LoginLog,
    { clock, crypto, open, lifecycle }: HandlerPorts,
    listener: HandlersListener,
  ): Keeper {
    const { history } = this
    const source = new LoginSource(handler, {
      ...{ clock, open, log },
      isDepleted: () => this.isDepleted,
      report: (event) => keeper.report(event),
      observe: listener.observe,
      onRetry(outcome, nextTryAt) {
        history.noteRetry(source.label, outcome, nextTryAt)
        listener.onRetry()
      },
      onLogin: (facts) => history.noteLogin(source.label, facts, clock.now()),
    })
    const keeper = new Keeper(source, { clock, crypto }, lifecycle)
    keeper.subscribe({
      onStarted: () => history.noteStart(source.label),
      onSettled(result) {
        if ('error' in result) history.noteFailure(source.label, result.error)
        else history.noteHeld(source.label, keeper.held?.expiresAt)
        listener.onSettled(result)
      },
      onRetired: () => listener.onRetired(keeper),
    })
    return keeper
  }

  /** Starts a login to replace an excluded credential, else one that is due. */
  #request(keeper: Keeper, now: number): void {
    const held = heldAt(keeper, now)
    const isExcluded = held !== undefined && this.refused.has(held.credential, now)
    if (isExcluded)
      keeper.requestBetter(held.credential, this.#refusals.get(keeper) ?? UNAUTHORIZED)
    else keeper.request()
  }

  #nextCheckAt(keeper: Keeper, now: number): number {
    // A run that ends notifies the vault by itself; without one, only the end of an exclusion changes anything.
    const excludedUntil = this.#excludedUntil(keeper) ?? Number.POSITIVE_INFINITY
    if (keeper.isRunning || hasFailed(keeper)) return excludedUntil
    const { nextTryAt } = keeper.status()
    return Math.min(
      nextTryAt !== undefined && nextTryAt > now ? nextTryAt : now + 1000,
      excludedUntil,
    )
  }

  /** Whether its last login returned nothing, and no other is running. */
  #hasReturnedNothing(keeper: Keeper): boolean {
    return !keeper.isRunning && outcomeOf(keeper, this.#factsOf(keeper)).result === 'nothing'
  }

  /** The server of its last login, which may have expired since. */
  #lastOriginOf({ label }: Keeper): string | undefined {
    return originIn(this.history.of(label).last?.server)
  }

  #factsOf(keeper: Keeper): HandlerFacts {
    return { record: this.history.of(keeper.label), excludedUntil: this.#excludedUntil(keeper) }
  }

  #excludedUntil(keeper: Keeper): number | undefined {
    const now = this.#clock.now()
    const held = heldAt(keeper, now)
    const isExcluded = held !== undefined && this.refused.has(held.credential, now)
    return isExcluded ? this.refused.endOf(held.credential) : undefined
  }
}

/**
 * Returns what a keeper holds, unless it has expired. A keeper may hold an expired credential until the next request or
 * timer; neither its server nor its exclusion counts any more.
 */
function heldAt({ held }: Keeper, now: number): HeldCredential<HeldLease> | undefined {
  return held !== undefined && now < held.expiresAt ? held : undefined
}

/** Whether its last login ended without a credential, and no other is running. */
function hasFailed({ isRunning, lastError }: Keeper): boolean {
  return !isRunning && lastError !== undefined
}

function originOf({ endpoint }: HeldLease): string | undefined {
  return originIn(endpoint?.cluster.server)
}

function originIn(server: string | undefined): string | undefined {
  return server === undefined ? undefined : /^https?:\/\/[^/]+/.exec(server)?.[0]
}

/** A candidate for `choose()`. */
export interface Candidate {
  /** Larger is preferred. */
  readonly priority: number
}

/**
 * Chooses at random among the candidates of the highest priority, with equal probability.
 *
 * @param random From 0 up to, but not including, 1.
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  random: number,
): C | undefined {
  const highest = Math.max(...candidates.map(({ priority }) => priority))
  const best = candidates.filter(({ priority }) => priority === highest)
  return best[Math.min(Math.floor(random * best.length), best.length - 1)]
}

/** Describes how the last login of a handler ended, for errors that say why no handler could log in. */
export function outcomeOf(
  keeper: Pick<Keeper, 'label' | 'status' | 'lastError'>,
  { record, excludedUntil }: HandlerFacts,
): LoginOutcome {
  const handler = keeper.label.name
  const attempts = Math.max(1, record.attempts)
  const failed = lastFailure(keeper.lastError)
  const { retry } = record
  if (excludedUntil !== undefined) {
    // There may have been a login since the refusal that returned no other credential.
    const nothing = failed?.result === 'nothing' ? 'it returned nothing' : undefined
    const reason = retry?.reason ?? failed?.reason ?? nothing
    return { handler, result: 'refused', attempts, nextTryAt: excludedUntil, ...because(reason) }
  }
  const { state, nextTryAt } = keeper.status()
  if (state === 'ready') return { handler, result: 'credential', attempts }
  if (retry !== undefined) return { handler, result: 'running', attempts, ...retry }
  if (failed !== undefined) {
    const { result = 'failed', reason } = failed
    const next = nextTryAt === undefined ? {} : { nextTryAt }
    return { handler, result, attempts: failed.attempts ?? attempts, ...because(reason), ...next }
  }
  return { handler, result: state === 'running' ? 'running' : 'failed', attempts }
}

/** The outcome of a failed login, or the message of an error in what it names: a file or a plugin. */
function lastFailure(error: unknown): Partial<LoginOutcome> | undefined {
  if (error instanceof LoginError && error.outcomes[0] !== undefined) return error.outcomes[0]
  return isCredentialError(error) ? { reason: error.message } : undefined
}

function because(reason: string | undefined): Pick<LoginOutcome, 'reason'> {
  return reason === undefined ? {} : { reason }
}
