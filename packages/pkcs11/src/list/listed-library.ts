import type { KeyKind } from '../public-key.ts'

/** The objects of a token that share an id: a key, a certificate, or both. */
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
  /** Whether key and certificate belong together. Absent if one of them is not visible. */
  readonly isMatch?: boolean | undefined
  /** The `config` map that selects it. */
  readonly config: Readonly<Record<string, string>>
}

/** A token and its entries. */
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

/** A library and its tokens, as `list -o json` prints them. */
export interface ListedLibrary {
  readonly library: string
  readonly description?: string | undefined
  /** Why it cannot be used. */
  readonly problem?: string | undefined
  readonly tokens: readonly ListedToken[]
}

/** The states of a token's PIN, and how `list` describes them. */
export const PIN_STATES = {
  'not-needed': 'not needed',
  needed: 'needed',
  'on-device': 'entered on the device',
  low: 'needed; a wrong PIN was entered, few tries left',
  'last-try': 'needed; ONE TRY LEFT before the token locks',
  locked: 'LOCKED after too many wrong PINs',
} as const

/** The state of a token's PIN. */
export type PinState = keyof typeof PIN_STATES
