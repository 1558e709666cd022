import type { SignatureScheme } from '../credential/signing-key.ts'
import type { CredentialError, LoginOutcome, UnexpectedError } from '../errors/index.ts'
import type { Reason } from '../lifecycle/state.ts'

/**
 * Key of a function on the label of a vault that returns what the vault is doing right now, for metrics: an event for
 * every waiting request would be too many. All copies of this package know the symbol.
 */
export const VAULT_LOAD = Symbol.for('kubecred/load/1')

/** The current load of a vault. */
export interface VaultLoad {
  /** Number of requests that wait for a login. */
  readonly waiting: number
  /** Logins that are not used because a server refused them. */
  readonly excluded: number
  /** Whether requests wait because no login can be used. */
  readonly isFrozen: boolean
}

/** Why a login handler is called: as for every source, or because no login is left that can be used. */
export type LoginCause = Reason | 'depleted'

/**
 * A source of credentials, described for people: without secrets and arguments.
 *
 * All events of one source carry the same object, which distinguishes it from others with the same name.
 */
export interface SourceLabel {
  /** What the source is: a plugin, an OIDC provider, a signer, files, fields of the kubeconfig, a login handler or a vault. */
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

/** When a certificate is valid. */
export interface Validity {
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  /** Milliseconds since the epoch. */
  readonly notAfter: number
}

/** The result of reading a CA file again, in the words of client-go's metric. */
export type AuthorityReload =
  | {
      /** Whether the content can be used. */
      readonly result: 'success'
      /** What was found. */
      readonly reason: 'updated' | 'unchanged'
    }
  | { readonly result: 'failure'; readonly reason: 'read_error' | 'empty' | 'ca_parse_error' }

/** What a credential consists of. A credential without parts is anonymous. */
export type CredentialPart = 'token' | 'certificate' | 'basic'

/** How the process of a plugin ended. */
export interface ProcessEnd {
  /** False if the operating system could not start it. */
  readonly isStarted: boolean
  /** Undefined if a signal or one of our limits ended it. */
  readonly exitStatus: number | undefined
  /** From its start, without the time it waited until fewer plugins ran. */
  readonly tookMs: number
}

/**
 * What happens to credentials and requests, for logs and metrics. No event carries a secret. `docs/events.md` describes
 * each of them.
 *
 * Observers receive events, and so do subscribers of the channel `kubecred:event` of `node:diagnostics_channel`.
 */
export type CredentialEvent = {
  /** Where the credential comes from. */
  readonly source: SourceLabel
} & (
  | {
      /** The source is asked for a credential: a plugin is about to run, a file to be read, a login handler to be called. */
      readonly type: 'run-started'
      /** Why it is asked. */
      readonly reason: Reason
      /** Whether the credential in use is still valid; the same as the reason `ahead`. */
      readonly ahead: boolean
    }
  | {
      /** The source returned a credential. It is in use from now on. */
      readonly type: 'run-succeeded'
      /** Why it was asked. */
      readonly reason: Reason
      /** How long the run took, in milliseconds. */
      readonly tookMs: number
      /** Whether it is the credential that was already in use. */
      readonly isSame: boolean
      /** Milliseconds since the epoch; undefined if the credential does not expire. */
      readonly expiresAt: number | undefined
      /** What the credential consists of. */
      readonly parts: readonly CredentialPart[]
      /** Absent if the source needs no process. */
      readonly process?: ProcessEnd
      /** Validity of the certificate, if there is one. */
      readonly certificate?: Validity
      /** The certificate that was in use before, if it is a different one. */
      readonly replaced?: Validity
    }
  | {
      /** The source returned no credential. A credential that is still valid remains in use. */
      readonly type: 'run-failed'
      /** Why it was asked. */
      readonly reason: Reason
      /** How long the run took, in milliseconds. */
      readonly tookMs: number
      /** What went wrong, with `code` and `hint`. */
      readonly error: CredentialError
      /** The earliest time of the next run, in milliseconds since the epoch. */
      readonly nextTryAt: number
      /** Absent if no process was started: none was found, allowed or needed. */
      readonly process?: ProcessEnd
    }
  | {
      /** The process of a plugin or signer starts, after waiting until fewer of them ran. */
      readonly type: 'plugin-started'
      /** Whether it can prompt the user. Then it has the terminal until it ends. */
      readonly isInteractive: boolean
    }
  | {
      /** The process of a plugin or signer ended. */
      readonly type: 'plugin-ended'
      /** How it ended. */
      readonly process: ProcessEnd
    }
  | {
      /** A plugin or signer wrote to standard error. An interactive one writes to the terminal instead. */
      readonly type: 'plugin-stderr'
      /** What it wrote, without secrets. */
      readonly text: string
    }
  | {
      /** The plugin policy in kuberc was applied to a plugin or signer. */
      readonly type: 'policy'
      /** Whether the program may run. */
      readonly verdict: 'allowed' | 'denied'
      /** `exec.command`, as the kubeconfig has it. */
      readonly command: string
    }
  | {
      /** A server refused the credential in use. */
      readonly type: 'refused'
      /** The status of the response; 0 if nothing was sent because the server could not be trusted. */
      readonly status: number
      /** The server that a login named; absent if the connection has one server only. */
      readonly server?: string
      /** Until when a vault does not use the login, in milliseconds since the epoch. */
      readonly excludedUntil?: number
    }
  | {
      /** A refused request is sent again with another credential. */
      readonly type: 'retried'
      /** The method of the request. */
      readonly method: string
      /** The path of the request, without the query. */
      readonly path: string
    }
  | {
      /** A credential is no longer used for new requests. */
      readonly type: 'retired'
    }
  | {
      /** The first event of an observer: its connection uses this source, which may be in use already. */
      readonly type: 'attached'
      /** Validity of the certificate that is in use already, if there is one. */
      readonly certificate?: Validity | undefined
    }
  | {
      /** The last event of an observer: none of its connections uses the source any more. */
      readonly type: 'detached'
    }
  | {
      /** Something needs attention, although requests continue. */
      readonly type: 'warning'
      /** One sentence, without secrets. */
      readonly message: string
    }
  | ({
      /** The CA file of a cluster changed and was read again. After a failure its last good content remains in use. */
      readonly type: 'ca-reload'
    } & AuthorityReload)
  | ({
      /** An error that is not a `CredentialError`: a mistake in this package, or in a function that was passed to it. */
      readonly type: 'unexpected-error'
    } & UnexpectedError)
  | {
      /**
       * A signer asks the user to do something, such as to touch the device. Show it until `prompt-ended`.
       *
       * @experimental
       */
      readonly type: 'user-prompt'
      /** One line, without control characters or secrets. */
      readonly text: string
    }
  | {
      /**
       * What the last prompt asked for was done, or is no longer needed.
       *
       * @experimental
       */
      readonly type: 'prompt-ended'
    }
  | {
      /**
       * An external signer signed a handshake.
       *
       * @experimental
       */
      readonly type: 'signed'
      /** The signature scheme of TLS 1.3. */
      readonly scheme: SignatureScheme
      /** How long the signature took, in milliseconds. */
      readonly tookMs: number
    }
  | {
      /**
       * An external signer did not sign a handshake.
       *
       * @experimental
       */
      readonly type: 'sign-failed'
      /** The signature scheme of TLS 1.3. */
      readonly scheme: SignatureScheme
      /** How long it took, in milliseconds. */
      readonly tookMs: number
      /** Undefined if the signature was no longer needed. */
      readonly error: CredentialError | undefined
    }
  | {
      /** A login handler returned a login that can be used. The source names the handler. */
      readonly type: 'logged-in'
      /** Why the handler was called. */
      readonly reason: LoginCause
      /** The server of the login. */
      readonly server: string
      /** How often the handler was called for this login. */
      readonly attempts: number
      /** From the first attempt until its files were read and its plugin had answered, in milliseconds. */
      readonly tookMs: number
      /** Milliseconds since the epoch; undefined if the login does not expire. */
      readonly expiresAt: number | undefined
      /** What the credential consists of. */
      readonly parts: readonly CredentialPart[]
      /** The priority that the handler returned: a higher one is used first. */
      readonly priority: number
      /** The user that requests impersonate with this login. */
      readonly as?: string
    }
  | {
      /** A login handler failed and will be called again for the same login. */
      readonly type: 'login-retried'
      /** How the attempt ended. */
      readonly outcome: LoginOutcome
      /** When it is called again, in milliseconds since the epoch. */
      readonly nextTryAt?: number
    }
  | {
      /** A login expired and is no longer used. */
      readonly type: 'expired'
      /** The server of the login. */
      readonly server: string
      /** Milliseconds since the epoch. */
      readonly expiresAt: number
    }
  | {
      /** A login handler wrote to its `logger`. */
      readonly type: 'log'
      /** As the method of the logger. */
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      /** What it wrote, without secrets. */
      readonly message: string
      /** Why the handler was called. */
      readonly reason?: LoginCause
    }
  | {
      /** The last login that could be used was refused or expired: all handlers are called. */
      readonly type: 'depleted'
    }
  | {
      /** Requests wait for a login from now on. */
      readonly type: 'frozen'
    }
  | {
      /** Waiting requests continue. */
      readonly type: 'thawed'
      /** How long they waited, in milliseconds. */
      readonly frozenMs: number
    }
  | {
      /** A request failed because no handler could log in, or none did in time. */
      readonly type: 'failed'
      /** What the request was rejected with. */
      readonly error: CredentialError
    }
)

/** Receives the events of a connection. What it throws is ignored: an observer cannot stop what it observes. */
export type Observer = (event: CredentialEvent) => void
