import type { KeyKind } from '../public-key.ts'

/** A key, a certificate, or both: what has one id. */
export interface ListedEntry {
  readonly id: string
  readonly labels: readonly string[]
  readonly key?: { readonly kind?: KeyKind; readonly isPrivateSeen: boolean } | undefined
  readonly certificate?:
    | {
        readonly subject: string
        readonly issuer: string
        readonly notBefore: string
        readonly notAfter: string
        readonly isExpired: boolean
      }
    | undefined
  /** Whether key and certificate belong together. Not there when one of them cannot be seen. */
  readonly isMatch?: boolean | undefined
  /** The `config` map that chooses it. */
  readonly config: Readonly<Record<string, string>>
}

export interface ListedToken {
  readonly label: string
  readonly serial: string
  readonly slotId: string
  readonly manufacturer: string
  readonly model: string
  readonly pin: PinState
  readonly problem?: string | undefined
  readonly entries: readonly ListedEntry[]
}

/** One library and what it shows: what `list -o json` prints. */
export interface ListedLibrary {
  readonly library: string
  readonly description?: string | undefined
  /** Why it cannot be used. */
  readonly problem?: string | undefined
  readonly tokens: readonly ListedToken[]
}

/** What is known about the PIN of a token, in words. */
export const PIN_WORDS = {
  'not-needed': 'not needed',
  needed: 'needed',
  'on-device': 'entered on the device',
  low: 'needed; a wrong one was entered, few tries are left',
  'last-try': 'needed; ONE TRY LEFT before it locks itself',
  locked: 'LOCKED after too many wrong ones',
} as const

export type PinState = keyof typeof PIN_WORDS
