import { ForeignOriginError, type LoginOutcome } from '../errors/index.ts'
import type { Held } from '../lifecycle/state.ts'
import type { Clock } from '../ports/clock.ts'
import type { ExecResponse } from '../protocol/encode-exec-info.ts'
import type { Wish } from './access.ts'
import type { Candidate } from './choose.ts'
import type { Keeper } from './keeper.ts'
import type { Kept } from './lease.ts'
import { LoginDiary } from './login-diary.ts'
import { outcomeOf } from './login-outcome.ts'
import { RefusedLogins } from './refused-logins.ts'
import { describeLogin, type HandlerFacts, type LoginStatus } from './vault-status.ts'

const UNKNOWN: ExecResponse = { code: 401, header: {} }

/** What a handler holds, and can be used. */
export interface Usable extends Candidate {
  readonly keeper: Keeper
  readonly kept: Kept
}

/**
 * The handlers of a vault, one keeper each: whose credential can be used, whose is left alone, and what is
 * known of each.
 */
export class Roster {
  readonly keepers: readonly Keeper[]
  readonly refused = new RefusedLogins()
  readonly diary = new LoginDiary()
  readonly #clock: Clock
  /** What a server last said to what a handler gave. */
  readonly #responses = new WeakMap<Keeper, ExecResponse>()

  constructor(keepers: readonly Keeper[], clock: Clock) {
    this.keepers = keepers
    this.#clock = clock
  }

  /** Whether nothing is left to use. */
  get isDepleted(): boolean {
    return this.usable({}).length === 0
  }

  /** How many are left alone because a server refused what they gave. */
  get excluded(): number {
    return this.keepers.filter((keeper) => this.#excludedUntil(keeper) !== undefined).length
  }

  usable({ origin }: Wish): Usable[] {
    const now = this.#clock.now()
    return this.keepers.flatMap((keeper) => {
      const { held } = keeper
      if (held === undefined || !this.#isUsable(held, now)) return []
      const kept = held.credential
      if (origin !== undefined && originOf(kept) !== origin) return []
      return [{ keeper, kept, priority: kept.endpoint?.priority ?? 0 }]
    })
  }

  /** @throws {ForeignOriginError} When everybody who has a login is logged in, and nobody at this server. */
  checkKnown({ origin }: Wish): void {
    if (origin === undefined) return
    // Nobody is logged in anywhere: then the trouble is not the server.
    if (this.keepers.every(({ held }) => held === undefined)) return
    const isPossible = this.keepers.some((keeper) =>
      keeper.held === undefined
        ? !this.#isSilent(keeper) || this.#lastOriginOf(keeper) === origin
        : originOf(keeper.held.credential) === origin,
    )
    if (isPossible) return
    throw new ForeignOriginError(`no login is for ${origin}`, {
      hint: 'Pass a path, or a URL of a server that a login handler names.',
    })
  }

  /** Asks every handler that may be asked. Returns when the next one may; `Infinity` when all are busy. */
  askAll(): number {
    const now = this.#clock.now()
    for (const keeper of this.keepers) {
      const { held } = keeper
      const isExcluded = held !== undefined && this.refused.has(held.credential, now)
      // A refused one is asked for something better; everything else for what is missing.
      if (isExcluded) keeper.askBetter(held.credential, this.#responses.get(keeper) ?? UNKNOWN)
      else keeper.request()
    }
    return Math.min(...this.keepers.map((keeper) => this.#nextLookAt(keeper, now)))
  }

  /** Asks those who have nothing, while others serve: each within its own pauses. */
  askMissing(): void {
    const now = this.#clock.now()
    for (const keeper of this.keepers) {
      const { held } = keeper
      if (held === undefined || held.expiresAt <= now) keeper.request()
    }
  }

  /** Asks every handler at a person's wish, and is content when one of them had something. */
  async renew(signal?: AbortSignal): Promise<void> {
    const all = await Promise.allSettled(this.keepers.map((keeper) => keeper.renew(signal)))
    const failed = all.filter((one) => one.status === 'rejected')
    if (failed.length === all.length) throw failed[0]?.reason
  }

  noteRefusal(keeper: Keeper, response: ExecResponse): void {
    this.#responses.set(keeper, response)
  }

  /** How every handler is doing. */
  statuses(): LoginStatus[] {
    return this.keepers.map((keeper) => describeLogin(keeper, this.#factsOf(keeper)))
  }

  /** How the last login of every handler ended. */
  outcomes(): LoginOutcome[] {
    return this.keepers.map((keeper) => outcomeOf(keeper, this.#factsOf(keeper)))
  }

  /** When a keeper that does nothing now may do something; a run tells by itself when it ends. */
  #nextLookAt(keeper: Keeper, now: number): number {
    const { nextTryAt, state } = keeper.status()
    if (state === 'running') return Number.POSITIVE_INFINITY
    // An exclusion that is over already changes nothing for those who still wait.
    const excludedUntil = this.#excludedUntil(keeper)
    return Math.min(
      nextTryAt !== undefined && nextTryAt > now ? nextTryAt : now + 1000,
      excludedUntil ?? Number.POSITIVE_INFINITY,
    )
  }

  /** Whether its last login had nothing to say, and no other is on its way. */
  #isSilent(keeper: Keeper): boolean {
    const isBusy = keeper.status().state === 'running'
    return !isBusy && outcomeOf(keeper, this.#factsOf(keeper)).result === 'nothing'
  }

  /** The server of its last login, which may have ended since. */
  #lastOriginOf({ label }: Keeper): string | undefined {
    return originIn(this.diary.of(label).last?.server)
  }

  #isUsable({ credential, expiresAt }: Held<Kept>, now: number): boolean {
    return now < expiresAt && !this.refused.has(credential, now)
  }

  #factsOf(keeper: Keeper): HandlerFacts {
    return { notes: this.diary.of(keeper.label), excludedUntil: this.#excludedUntil(keeper) }
  }

  /** Of a credential that has expired the next login matters, and no longer that a server refused it. */
  #excludedUntil({ held }: Keeper): number | undefined {
    const now = this.#clock.now()
    const isExcluded = held && now < held.expiresAt && this.refused.has(held.credential, now)
    return isExcluded ? this.refused.endOf(held.credential) : undefined
  }
}

function originOf({ endpoint }: Kept): string | undefined {
  return originIn(endpoint?.cluster.server)
}

function originIn(server: string | undefined): string | undefined {
  return server === undefined ? undefined : /^https?:\/\/[^/]+/.exec(server)?.[0]
}
