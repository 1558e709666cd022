import type { CredentialError } from '../errors/index.ts'
import type { Reason } from '../lifecycle/state.ts'

/** A source in a few words for people: no secret, no arguments. */
export interface SourceLabel {
  readonly kind: 'exec' | 'token-file' | 'certificate-files' | 'static' | 'anonymous'
  /** For example the plugin's command, or a file's path. */
  readonly name: string
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
    }
  | {
      readonly type: 'run-failed'
      readonly reason: Reason
      readonly tookMs: number
      readonly error: CredentialError
      readonly nextTryAt: number
    }
  | { readonly type: 'plugin-stderr'; readonly text: string }
  | { readonly type: 'policy'; readonly verdict: 'allowed' | 'denied'; readonly command: string }
  | { readonly type: 'refused'; readonly status: number }
  | { readonly type: 'retried'; readonly method: string; readonly path: string }
  | { readonly type: 'retired' }
  | { readonly type: 'warning'; readonly message: string }
)

export type Observer = (event: CredentialEvent) => void
