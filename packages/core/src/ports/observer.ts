import type { CredentialError, LoginOutcome } from '../errors/index.ts'
import type { Reason } from '../lifecycle/state.ts'

/**
 * A source in a few words for people: no secret, no arguments.
 *
 * All events of one keeper carry the same object, which tells it from others of the same name.
 */
export interface SourceLabel {
  readonly kind:
    | 'exec'
    | 'oidc'
    | 'token-file'
    | 'certificate-files'
    | 'static'
    | 'anonymous'
    | 'login'
    | 'vault'
  /** For example the plugin's command, or a file's path. */
  readonly name: string
}

/** When a certificate is valid, in milliseconds since the epoch. */
export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

/** What became of a plugin's process. */
export interface ProcessEnd {
  /** False when the operating system would not start it. */
  readonly isStarted: boolean
  /** Undefined when it did not end by itself but by a signal or one of our limits. */
  readonly exitStatus: number | undefined
  /** From its start: the time it waited for a place is not in it. */
  readonly tookMs: number
}

/** Everything worth watching. None of it carries a secret. */
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
      readonly holds: readonly ('token' | 'certificate' | 'basic')[]
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
  | { readonly type: 'plugin-ended'; readonly process: ProcessEnd }
  | { readonly type: 'plugin-stderr'; readonly text: string }
  | { readonly type: 'policy'; readonly verdict: 'allowed' | 'denied'; readonly command: string }
  | { readonly type: 'refused'; readonly status: number }
  | { readonly type: 'retried'; readonly method: string; readonly path: string }
  | { readonly type: 'retired' }
  /** The first event an observer gets: a connection with it uses this keeper, which may be in use already. */
  | { readonly type: 'borrowed'; readonly certificate?: Validity | undefined }
  /** The last one: no connection with this observer uses it any more. */
  | { readonly type: 'released' }
  | { readonly type: 'warning'; readonly message: string }
  /** A login handler failed, and will be asked again within the same login. */
  | { readonly type: 'login-retried'; readonly outcome: LoginOutcome }
  /** A handler wrote this for people. */
  | {
      readonly type: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly message: string
    }
  /** No credential is left that a server takes: all handlers are asked to log in. */
  | { readonly type: 'depleted' }
  /** Requests wait for a login from now on. */
  | { readonly type: 'frozen' }
  /** They go on. */
  | { readonly type: 'thawed'; readonly frozenMs: number }
  /** A request waited as long as it may, and nobody could log in. */
  | { readonly type: 'failed'; readonly error: CredentialError }
)

export type Observer = (event: CredentialEvent) => void
