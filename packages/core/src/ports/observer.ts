import type { SignatureScheme } from '../credential/signing-key.ts'
import type { CredentialError, LoginOutcome, UnexpectedError } from '../errors/index.ts'
import type { Reason } from '../lifecycle/state.ts'

/**
 * The key of a function in a vault's label that returns its current load; the same symbol in all copies of this package.
 *
 * It exists for gauges: an event for every waiting request would be too many.
 */
export const VAULT_LOAD = Symbol.for('kubecred/load/1')

/** The current load of a vault. */
export interface VaultLoad {
  /** Number of requests that wait for a login. */
  readonly waiting: number
  /** Number of logins that are excluded because a server refused them. */
  readonly excluded: number
  readonly isFrozen: boolean
}

/** Why a login handler is called: a reason that every source has, or `depleted` if no handler has a usable login left. */
export type LoginCause = Reason | 'depleted'

/**
 * Describes a source for users and metrics, without secrets and arguments.
 *
 * All events of one keeper have the same object, which distinguishes it from other sources with the same name.
 */
export interface SourceLabel {
  readonly kind:
    | 'exec'
    | 'oidc'
    | 'signer'
    | 'token-file'
    | 'certificate-files'
    | 'static'
    | 'anonymous'
    | 'login'
    | 'vault'
  /** For example the plugin's command, a file's path, or the id of a login handler. */
  readonly name: string
  readonly [VAULT_LOAD]?: () => VaultLoad
}

/** When a certificate is valid, in milliseconds since the epoch. */
export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

/** The result of reloading a CA file, in the terms of client-go's metric. */
export type AuthorityReload =
  | { readonly result: 'success'; readonly reason: 'updated' | 'unchanged' }
  | { readonly result: 'failure'; readonly reason: 'read_error' | 'empty' | 'ca_parse_error' }

/** A part of a credential. A credential without any part is anonymous. */
export type CredentialPart = 'token' | 'certificate' | 'basic'

/** How the process of a plugin ended. */
export interface ProcessEnd {
  /** False if the operating system could not start it. */
  readonly isStarted: boolean
  /** Undefined if it was terminated by a signal or by one of our limits. */
  readonly exitStatus: number | undefined
  /** The duration from its start; without any wait for the process limit. */
  readonly tookMs: number
}

/**
 * An event in the life of a credential. Events never contain secrets.
 *
 * They are sent to observers, and to subscribers of the channel `kubecred:event` of `node:diagnostics_channel`.
 */
export type CredentialEvent = { readonly source: SourceLabel } & (
  | { readonly type: 'run-started'; readonly reason: Reason; readonly ahead: boolean }
  | {
      readonly type: 'run-succeeded'
      readonly reason: Reason
      readonly tookMs: number
      /** Whether the new credential equals the previous one. */
      readonly isSame: boolean
      /** Undefined if the credential has no known expiry. */
      readonly expiresAt: number | undefined
      readonly parts: readonly CredentialPart[]
      /** Absent if the source does not run a process. */
      readonly process?: ProcessEnd
      /** The validity of the certificate, if there is one. */
      readonly certificate?: Validity
      /** The validity of the previous certificate, if it was another one. */
      readonly replaced?: Validity
    }
  | {
      readonly type: 'run-failed'
      readonly reason: Reason
      readonly tookMs: number
      readonly error: CredentialError
      readonly nextTryAt: number
      /** Absent if no process ran: the program was not found or not allowed, or the source needs none. */
      readonly process?: ProcessEnd
    }
  /** A program starts now. An interactive one has the terminal until it ends. */
  | { readonly type: 'plugin-started'; readonly isInteractive: boolean }
  | { readonly type: 'plugin-ended'; readonly process: ProcessEnd }
  | { readonly type: 'plugin-stderr'; readonly text: string }
  | { readonly type: 'policy'; readonly verdict: 'allowed' | 'denied'; readonly command: string }
  | {
      readonly type: 'refused'
      /** The HTTP status; 0 if nothing was sent because the certificate of the server could not be verified. */
      readonly status: number
      /** The server of the login; absent if the connection has only one server. */
      readonly server?: string
      /** Until when a vault excludes the login. */
      readonly excludedUntil?: number
    }
  | { readonly type: 'retried'; readonly method: string; readonly path: string }
  | { readonly type: 'retired' }
  /** The first event for an observer: its connection uses this keeper, which may already be in use by others. */
  | { readonly type: 'attached'; readonly certificate?: Validity | undefined }
  /** The last event for an observer: its connections no longer use this keeper. */
  | { readonly type: 'detached' }
  | { readonly type: 'warning'; readonly message: string }
  /** The CA file of a cluster changed and was reloaded. After a failure, its last valid content stays in use. */
  | ({ readonly type: 'ca-reload' } & AuthorityReload)
  /** An error that is not a `CredentialError`: a bug in this package, or in code that was passed to it. */
  | ({ readonly type: 'unexpected-error' } & UnexpectedError)
  /** A signer asks the user to do something, such as to touch the device. Show it until `prompt-ended`. */
  | { readonly type: 'user-prompt'; readonly text: string }
  /** The last prompt was answered or is no longer needed. */
  | { readonly type: 'prompt-ended' }
  /** A signing key has signed a TLS handshake. */
  | { readonly type: 'signed'; readonly scheme: SignatureScheme; readonly tookMs: number }
  | {
      readonly type: 'sign-failed'
      readonly scheme: SignatureScheme
      readonly tookMs: number
      /** Undefined if the caller had given up. */
      readonly error: CredentialError | undefined
    }
  /** A login handler returned a usable credential. `source` names the handler. */
  | {
      readonly type: 'logged-in'
      readonly reason: LoginCause
      readonly server: string
      readonly attempts: number
      /** The duration from the first attempt, including files that were read and a plugin that was run. */
      readonly tookMs: number
      /** Undefined if it has no known expiry. */
      readonly expiresAt: number | undefined
      readonly parts: readonly CredentialPart[]
      readonly priority: number
      /** The user that its requests impersonate. */
      readonly as?: string
    }
  /** A login handler failed, and will be called again within the same login. */
  | {
      readonly type: 'login-retried'
      readonly outcome: LoginOutcome
      readonly nextTryAt?: number
    }
  /** The credential of a handler has expired and is no longer used. */
  | { readonly type: 'expired'; readonly server: string; readonly expiresAt: number }
  /** A handler wrote a log message. */
  | {
      readonly type: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly message: string
      /** The reason of the login in which it was written. */
      readonly reason?: LoginCause
    }
  /** The last usable credential was refused or has expired: all handlers are called to log in. */
  | { readonly type: 'depleted' }
  /** Requests now wait for a login. */
  | { readonly type: 'frozen' }
  /** Waiting requests continue. */
  | { readonly type: 'thawed'; readonly frozenMs: number }
  /** A request failed because no handler logged in, or none did in time. */
  | { readonly type: 'failed'; readonly error: CredentialError }
)

/** A function that receives events. Errors it throws are ignored. */
export type Observer = (event: CredentialEvent) => void
