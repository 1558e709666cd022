import { LoginError, type LoginOutcome } from '../errors/index.ts'
import type { CredentialPart, SourceLabel } from '../ports/observer.ts'
import type { Report } from '../sources/source.ts'

/** The history of one handler's logins. */
export interface LoginRecord {
  /** Attempts of the running login, else of the last one. */
  readonly attempts: number
  /** How many times a server refused the handler's credential. */
  readonly refusals: number
  /** The last failed attempt of the running login. */
  readonly retry?: { readonly reason: string; readonly nextTryAt: number } | undefined
  /** The last successful login. */
  readonly last?: {
    readonly at: number
    readonly tookMs: number
    readonly server: string
    readonly priority: number
    readonly parts: readonly CredentialPart[]
    readonly as?: string
  }
  /** When the held credential expires; undefined once its expiry is reported. */
  readonly heldUntil?: number | undefined
}

const EMPTY_RECORD: LoginRecord = { attempts: 0, refusals: 0 }

/** The facts of a successful login. */
export type LoginDetails = Omit<Extract<Report, { type: 'logged-in' }>, 'type'>

/** The login history of a vault's handlers, for its status and for errors that say why no handler could log in. */
export class LoginHistory {
  readonly #records = new Map<SourceLabel, LoginRecord>()

  of(handler: SourceLabel): LoginRecord {
    return this.#records.get(handler) ?? EMPTY_RECORD
  }

  noteStart(handler: SourceLabel): void {
    this.#change(handler, { attempts: 0, retry: undefined })
  }

  noteRetry(
    handler: SourceLabel,
    { attempts, reason = '' }: LoginOutcome,
    nextTryAt: number,
  ): void {
    this.#change(handler, { attempts, retry: { reason, nextTryAt } })
  }

  noteLogin(handler: SourceLabel, facts: LoginDetails, now: number): void {
    const { attempts, tookMs, server, priority, parts, as } = facts
    const last = { at: now, tookMs, server, priority, parts, ...(as !== undefined && { as }) }
    this.#change(handler, { attempts, retry: undefined, last })
  }

  noteFailure(handler: SourceLabel, error: unknown): void {
    const [outcome] = error instanceof LoginError ? error.outcomes : []
    const attempts = outcome?.attempts ?? Math.max(1, this.of(handler).attempts)
    this.#change(handler, { attempts, retry: undefined })
  }

  noteRefusal(handler: SourceLabel): void {
    this.#change(handler, { refusals: this.of(handler).refusals + 1 })
  }

  /** @param until When the held credential expires. */
  noteHeld(handler: SourceLabel, until: number | undefined): void {
    this.#change(handler, { heldUntil: until })
  }

  #change(handler: SourceLabel, changes: Partial<LoginRecord>): void {
    this.#records.set(handler, { ...this.of(handler), ...changes })
  }
}
