import { type Refusal, UNAUTHORIZED } from '../credential/refusal.ts'
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

/** What a handler holds, and can be used. */
export interface Usable extends Candidate {
  readonly keeper: Keeper
  readonly lease: HeldLease
}

/** What handlers need of the world. */
export interface HandlerPorts extends KeeperPorts {
  readonly open: OpenLogin
  /** Limits for keeping what handlers give fresh. */
  readonly lifecycle?: Partial<LifecyclePolicy> | undefined
}

/** What a vault does when something happens to a handler. It is called after the history was written. */
export interface HandlersListener extends Pick<LoginPorts, 'observe'> {
  /** An attempt failed and will be followed by another. */
  onRetry(): void
  /** A login ended. */
  onSettled(result: RunResult): void
  /** A credential of the handler is no longer given out. */
  onRetired(keeper: Keeper): void
}

/**
 * The handlers of a vault, one keeper each: whose credential can be used, whose is left alone, and what is
 * known of each.
 */
export class LoginHandlers {
  readonly keepers: readonly Keeper[]
  readonly refused = new RefusedLogins()
  readonly history = new LoginHistory()
  readonly #clock: Clock
  /** How a server last refused the credential of a handler. */
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

  /** Whether nothing is left to use. */
  get isDepleted(): boolean {
    return this.usable({}).length === 0
  }

  /** How many are left alone because a server refused what they gave. */
  get excluded(): number {
    return this.keepers.filter((keeper) => this.#excludedUntil(keeper) !== undefined).length
  }

  usable({ origin }: LeaseOptions): Usable[] {
    const now = this.#clock.now()
    return this.keepers.flatMap((keeper) => {
      const held = heldAt(keeper, now)
      if (held === undefined || this.refused.has(held.credential, now)) return []
      const lease = held.credential
      if (origin !== undefined && originOf(lease) !== origin) return []
      return [{ keeper, lease, priority: lease.endpoint?.priority ?? 0 }]
    })
  }

  /** @throws {ForeignOriginError} If all handlers that have a login are logged in at other servers. */
  checkKnown({ origin }: LeaseOptions): void {
    if (origin === undefined) return
    const now = this.#clock.now()
    // No handler is logged in anywhere: then the trouble is not the server.
    if (this.keepers.every((keeper) => heldAt(keeper, now) === undefined)) return
    const isPossible = this.keepers.some((keeper) => {
      const held = heldAt(keeper, now)
      return held === undefined
        ? !this.#isSilent(keeper) || this.#lastOriginOf(keeper) === origin
        : originOf(held.credential) === origin
    })
    if (isPossible) return
    throw new ForeignOriginError(`no login is for ${origin}`, {
      hint: 'Pass a path, or a URL of a server that a login handler names.',
    })
  }

  /** Asks every handler that may be asked: those whose last login failed, too, if their pause is over. */
  askAll(): void {
    const now = this.#clock.now()
    for (const keeper of this.keepers) this.#ask(keeper, now)
  }

  /** The same, except handlers whose last login failed: within one wait they are asked once. */
  askUnanswered(): void {
    const now = this.#clock.now()
    for (const keeper of this.keepers) if (!hasFailed(keeper)) this.#ask(keeper, now)
  }

  /** Whether a handler may still give something to this request, without being asked again. */
  mayHelp({ origin }: LeaseOptions): boolean {
    const now = this.#clock.now()
    return this.keepers.some((keeper) => {
      const held = heldAt(keeper, now)
      if (held === undefined) return !hasFailed(keeper)
      if (origin !== undefined && originOf(held.credential) !== origin) return false
      return !hasFailed(keeper) || !this.refused.has(held.credential, now)
    })
  }

  /** Whether a handler without a login is in its first attempt, and may come with a higher priority than this. */
  mayOvertake(priority: number, { origin }: LeaseOptions): boolean {
    const now = this.#clock.now()
    return this.keepers.some((keeper) => {
      if (!keeper.isRunning || heldAt(keeper, now) !== undefined) return false
      const { retry, last } = this.history.of(keeper.label)
      if (retry !== undefined) return false
      // Where it leads and with which priority comes with a login: before the first one neither is known.
      if (last === undefined) return true
      return last.priority > priority && (origin === undefined || originIn(last.server) === origin)
    })
  }

  /** When something changes that no listener learns of: a pause or an exclusion ends. `Infinity` if nothing does. */
  nextLookAt(): number {
    const now = this.#clock.now()
    return Math.min(...this.keepers.map((keeper) => this.#nextLookAt(keeper, now)))
  }

  /** Asks those who have nothing, while others serve: each within its own pauses. */
  askMissing(): void {
    const now = this.#clock.now()
    for (const keeper of this.keepers) if (heldAt(keeper, now) === undefined) keeper.request()
  }

  /** Asks every handler when a person asks for it, and is content when one of them had something. */
  async renew(signal?: AbortSignal): Promise<void> {
    const all = await Promise.allSettled(this.keepers.map((keeper) => keeper.renew(signal)))
    const failed = all.filter((one) => one.status === 'rejected')
    if (failed.length === all.length) throw failed[0]?.reason
  }

  /** Remembers how a server refused the credential of a handler, for when the handler is asked again later. */
  noteRefusal(keeper: Keeper, refusal: Refusal): void {
    this.#refusals.set(keeper, refusal)
  }

  /** Counts a refusal of what a handler holds. A late one, of what has been replaced, does not count. */
  countRefusal({ held, label }: Keeper, { ticket }: HeldLease): boolean {
    if (held?.ticket !== ticket) return false
    this.history.noteRefusal(label)
    return true
  }

  /** How every handler is doing. */
  statuses(): LoginStatus[] {
    return this.keepers.map((keeper) => describeLogin(keeper, this.#factsOf(keeper)))
  }

  /** How the last login of every handler ended. */
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

  /** Asks a refused one for something better; everything else for what is missing. */
  #ask(keeper: Keeper, now: number): void {
    const held = heldAt(keeper, now)
    const isExcluded = held !== undefined && this.refused.has(held.credential, now)
    if (isExcluded) keeper.askBetter(held.credential, this.#refusals.get(keeper) ?? UNAUTHORIZED)
    else keeper.request()
  }

  #nextLookAt(keeper: Keeper, now: number): number {
    // The end of a run notifies the vault, and an exclusion that is over changes nothing for waiting requests.
    const excludedUntil = this.#excludedUntil(keeper) ?? Number.POSITIVE_INFINITY
    if (keeper.isRunning || hasFailed(keeper)) return excludedUntil
    const { nextTryAt } = keeper.status()
    return Math.min(
      nextTryAt !== undefined && nextTryAt > now ? nextTryAt : now + 1000,
      excludedUntil,
    )
  }

  /** Whether its last login had nothing to say, and no other is on its way. */
  #isSilent(keeper: Keeper): boolean {
    return !keeper.isRunning && outcomeOf(keeper, this.#factsOf(keeper)).result === 'nothing'
  }

  /** The server of its last login, which may have ended since. */
  #lastOriginOf({ label }: Keeper): string | undefined {
    return originIn(this.history.of(label).last?.server)
  }

  #factsOf(keeper: Keeper): HandlerFacts {
    return { notes: this.history.of(keeper.label), excludedUntil: this.#excludedUntil(keeper) }
  }

  #excludedUntil(keeper: Keeper): number | undefined {
    const now = this.#clock.now()
    const held = heldAt(keeper, now)
    const isExcluded = held !== undefined && this.refused.has(held.credential, now)
    return isExcluded ? this.refused.endOf(held.credential) : undefined
  }
}

/**
 * What it holds, and has not expired: after that the next login matters, and no longer where the last one led or
 * whether a server refused it. The keeper itself may still hold it, until it is asked or wakes.
 */
function heldAt({ held }: Keeper, now: number): HeldCredential<HeldLease> | undefined {
  return held !== undefined && now < held.expiresAt ? held : undefined
}

/** Whether its last login has ended without a credential, and no other is on its way. */
function hasFailed({ isRunning, lastError }: Keeper): boolean {
  return !isRunning && lastError !== undefined
}

function originOf({ endpoint }: HeldLease): string | undefined {
  return originIn(endpoint?.cluster.server)
}

function originIn(server: string | undefined): string | undefined {
  return server === undefined ? undefined : /^https?:\/\/[^/]+/.exec(server)?.[0]
}

/** Something that can be chosen. */
export interface Candidate {
  /** Larger is preferred. */
  readonly priority: number
}

/**
 * Chooses among the candidates of the highest priority, each as likely as the others.
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

/** How the last login of a handler ended, for errors that say why no handler could log in. */
export function outcomeOf(
  keeper: Pick<Keeper, 'label' | 'status' | 'lastError'>,
  { notes, excludedUntil }: HandlerFacts,
): LoginOutcome {
  const handler = keeper.label.name
  const attempts = Math.max(1, notes.attempts)
  const failed = lastFailure(keeper.lastError)
  const { retry } = notes
  if (excludedUntil !== undefined) {
    // There may have been a login since, which could not give anything better.
    const again = failed?.result === 'nothing' ? 'it returned nothing' : undefined
    const reason = retry?.reason ?? failed?.reason ?? again
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

/** A login's own words, or those of what it led to: a file, a plugin. */
function lastFailure(error: unknown): Partial<LoginOutcome> | undefined {
  if (error instanceof LoginError && error.outcomes[0] !== undefined) return error.outcomes[0]
  return isCredentialError(error) ? { reason: error.message } : undefined
}

function because(reason: string | undefined): Pick<LoginOutcome, 'reason'> {
  return reason === undefined ? {} : { reason }
}
