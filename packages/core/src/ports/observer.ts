import type { SignatureScheme } from '../credential/signing-key.ts'
import type { CredentialError, LoginOutcome, UnexpectedError } from '../errors/index.ts'
import type { Reason } from '../lifecycle/state.ts'

/**
 * Where a vault's label keeps how to ask what the vault is doing right now; a symbol all copies of this
 * package know. It is for those who count: an event for every request that waits would be too many.
 */
export const VAULT_LOAD = Symbol.for('kubecred/load/1')

/** What a vault is doing right now. */
export interface VaultLoad {
  /** Requests that wait for a login. */
  readonly waiting: number
  /** Logins that are left alone because a server refused them. */
  readonly excluded: number
  readonly isFrozen: boolean
}

/** Why a login handler is asked: as for every source, or because nothing is left of anybody's. */
export type LoginCause = Reason | 'depleted'

/**
 * A source in a few words for people: no secret, no arguments.
 *
 * All events of one keeper carry the same object, which tells it from others of the same name.
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

/** How it went to read a CA file again, in the words of client-go's metric. */
export type AuthorityReload =
  | { readonly result: 'success'; readonly reason: 'updated' | 'unchanged' }
  | { readonly result: 'failure'; readonly reason: 'read_error' | 'empty' | 'ca_parse_error' }

/** What a credential is made of; nothing at all is anonymous. */
export type CredentialPart = 'token' | 'certificate' | 'basic'

/** What became of a plugin's process. */
export interface ProcessEnd {
  /** False when the operating system would not start it. */
  readonly isStarted: boolean
  /** Undefined when it did not end by itself but by a signal or one of our limits. */
  readonly exitStatus: number | undefined
  /** From its start: the time it waited for a place is not in it. */
  readonly tookMs: number
}

/**
 * Everything worth watching. None of it carries a secret.
 *
 * Observers receive it, and subscribers of the channel `kubecred:event` of `node:diagnostics_channel`.
 */
export type CredentialEvent = { readonly source: SourceLabel } & (
  | { readonly type: 'run-started'; readonly reason: Reason; readonly ahead: boolean }
  | {
      readonly type: 'run-succeeded'
      readonly reason: Reason
      readonly tookMs: number
      /** Whether it is the credential we held already. */
      readonly isSame: boolean
      /** Undefined when the credential has no end. */
      readonly expiresAt: number | undefined
      readonly holds: readonly CredentialPart[]
      /** Absent when the source needs no process. */
      readonly process?: ProcessEnd
      /** Validity of the certificate, where there is one. */
      readonly certificate?: Validity
      /** The certificate that was in use before, when it is not the same. */
      readonly replaced?: Validity
    }
  | {
      readonly type: 'run-failed'
      readonly reason: Reason
      readonly tookMs: number
      readonly error: CredentialError
      readonly nextTryAt: number
      /** Absent when it did not come to a process: none was found, none was allowed, none was needed. */
      readonly process?: ProcessEnd
    }
  /** A program has a place and starts now. An interactive one has the terminal until it ends. */
  | { readonly type: 'plugin-started'; readonly isInteractive: boolean }
  | { readonly type: 'plugin-ended'; readonly process: ProcessEnd }
  | { readonly type: 'plugin-stderr'; readonly text: string }
  | { readonly type: 'policy'; readonly verdict: 'allowed' | 'denied'; readonly command: string }
  | {
      readonly type: 'refused'
      /** 0 when nothing was sent, because the server could not be trusted. */
      readonly status: number
      /** The server that a login named; absent where the connection has one server only. */
      readonly server?: string
      /** Until when a vault leaves the login alone. */
      readonly excludedUntil?: number
    }
  | { readonly type: 'retried'; readonly method: string; readonly path: string }
  | { readonly type: 'retired' }
  /** The first event an observer gets: a connection with it uses this keeper, which may be in use already. */
  | { readonly type: 'borrowed'; readonly certificate?: Validity | undefined }
  /** The last one: no connection with this observer uses it any more. */
  | { readonly type: 'released' }
  | { readonly type: 'warning'; readonly message: string }
  /** The CA file of a cluster was read again, because it changed. After a failure its last good content stays in use. */
  | ({ readonly type: 'ca-reload' } & AuthorityReload)
  /** Something failed that is no `CredentialError`: a mistake in this package, or in what was given to it. */
  | ({ readonly type: 'unexpected-error' } & UnexpectedError)
  /** A signer wants the person to do something, such as to touch the device. Shown until `prompt-ended`. */
  | { readonly type: 'user-prompt'; readonly text: string }
  /** What the last prompt was for is done, or will not be done any more. */
  | { readonly type: 'prompt-ended' }
  /** A key that is elsewhere has signed a handshake. */
  | { readonly type: 'signed'; readonly scheme: SignatureScheme; readonly tookMs: number }
  | {
      readonly type: 'sign-failed'
      readonly scheme: SignatureScheme
      readonly tookMs: number
      /** Undefined when nobody waited for the signature any more. */
      readonly error: CredentialError | undefined
    }
  /** A login handler gave something that can be used. Its source names the handler. */
  | {
      readonly type: 'logged-in'
      readonly reason: LoginCause
      readonly server: string
      readonly attempts: number
      /** From the first attempt until files were read and a plugin had answered. */
      readonly tookMs: number
      /** Undefined when it has no end. */
      readonly expiresAt: number | undefined
      readonly holds: readonly CredentialPart[]
      readonly priority: number
      /** Whom requests with it act as. */
      readonly as?: string
    }
  /** A login handler failed, and will be asked again within the same login. */
  | {
      readonly type: 'login-retried'
      readonly outcome: LoginOutcome
      readonly nextTryAt?: number
    }
  /** What a handler gave has ended, and is no longer used. */
  | { readonly type: 'expired'; readonly server: string; readonly expiresAt: number }
  /** A handler wrote this for people. */
  | {
      readonly type: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly message: string
      /** Of the login in which it was written. */
      readonly reason?: LoginCause
    }
  /** The last credential that could be used has been refused or has ended: all handlers are asked to log in. */
  | { readonly type: 'depleted' }
  /** Requests wait for a login from now on. */
  | { readonly type: 'frozen' }
  /** They go on. */
  | { readonly type: 'thawed'; readonly frozenMs: number }
  /** A request failed because no handler could log in, or none did in time. */
  | { readonly type: 'failed'; readonly error: CredentialError }
)

export type Observer = (event: CredentialEvent) => void
