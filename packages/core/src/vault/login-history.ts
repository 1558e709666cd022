import { LoginError, type LoginOutcome } from '../errors/index.ts'
import type { CredentialPart, SourceLabel } from '../ports/observer.ts'
import type { Report } from '../sources/source.ts'

/** What is known of one handler's logins. */
export interface LoginNotes {
  /** Of the login that runs, or else of the last one. */
  readonly attempts: number
  /** Times a server refused what the handler gave. */
  readonly refusals: number
  /** The last attempt of a login that still runs. */
  readonly retry?: { readonly reason: string; readonly nextTryAt: number } | undefined
  /** The last login that went well. */
  readonly last?: {
    readonly at: number
    readonly tookMs: number
    readonly server: string
    readonly priority: number
    readonly holds: readonly CredentialPart[]
    readonly as?: string
  }
  /** The end of what is held; undefined when its end has been reported. */
  readonly heldUntil?: number | undefined
}

const BLANK: LoginNotes = { attempts: 0, refusals: 0 }

/** What is known of a login that went well. */
export type LoginFacts = Omit<Extract<Report, { type: 'logged-in' }>, 'type'>

/** What the handlers of a vault did, for its status and for errors that say why no handler could log in. */
export class LoginHistory {
  readonly #notes = new Map<SourceLabel, LoginNotes>()

  of(handler: SourceLabel): LoginNotes {
    return this.#notes.get(handler) ?? BLANK
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

  noteLogin(handler: SourceLabel, facts: LoginFacts, now: number): void {
    const { attempts, tookMs, server, priority, holds, as } = facts
    const last = { at: now, tookMs, server, priority, holds, ...(as !== undefined && { as }) }
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

  /** @param until The end of what is held now. */
  noteHeld(handler: SourceLabel, until: number | undefined): void {
    this.#change(handler, { heldUntil: until })
  }

  #change(handler: SourceLabel, changes: Partial<LoginNotes>): void {
    this.#notes.set(handler, { ...this.of(handler), ...changes })
  }
}
