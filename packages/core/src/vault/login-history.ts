import type { LoginError } from '../errors/index.ts'
import type { CredentialEvent, CredentialPart, SourceLabel } from '../ports/observer.ts'

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
  /** The end of what is held; undefined when its end has been told. */
  readonly heldUntil?: number | undefined
}

const BLANK: LoginNotes = { attempts: 0, refusals: 0 }

/** Writes down what handlers do, for those who ask later: status, and errors that say why nobody is logged in. */
export class LoginHistory {
  readonly #notes = new Map<SourceLabel, LoginNotes>()

  of(handler: SourceLabel): LoginNotes {
    return this.#notes.get(handler) ?? BLANK
  }

  note(event: CredentialEvent, now: number): void {
    const notes = this.of(event.source)
    this.#notes.set(event.source, { ...notes, ...changesBy(event, notes, now) })
  }

  /** @param until The end of what is held now. */
  noteHeld(handler: SourceLabel, until: number | undefined): void {
    this.#notes.set(handler, { ...this.of(handler), heldUntil: until })
  }
}

function changesBy(event: CredentialEvent, notes: LoginNotes, now: number): Partial<LoginNotes> {
  switch (event.type) {
    case 'run-started':
      return { attempts: 0, retry: undefined }
    case 'login-retried': {
      const { attempts, reason = '' } = event.outcome
      return { attempts, retry: { reason, nextTryAt: event.nextTryAt ?? now } }
    }
    case 'logged-in': {
      const { attempts, tookMs, server, priority, holds, as } = event
      const last = { at: now, tookMs, server, priority, holds, ...(as !== undefined && { as }) }
      return { attempts, retry: undefined, last }
    }
    case 'run-failed': {
      const [outcome] = (event.error as Partial<LoginError>).outcomes ?? []
      return { attempts: outcome?.attempts ?? Math.max(1, notes.attempts), retry: undefined }
    }
    case 'refused':
      return { refusals: notes.refusals + 1 }
    default:
      return {}
  }
}
