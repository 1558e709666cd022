import type { Secret } from '../secret/secret.ts'

/** The group of all versions of the plugin protocol. */
export const GROUP = 'client.authentication.k8s.io'

/** Versions of the plugin protocol that we speak. */
export const API_VERSIONS = [`${GROUP}/v1`, `${GROUP}/v1beta1`, `${GROUP}/v1alpha1`] as const
export type ApiVersion = (typeof API_VERSIONS)[number]

export const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const
export type InteractiveMode = (typeof INTERACTIVE_MODES)[number]

/**
 * The `exec` stanza of a kubeconfig user, checked once and immutable after.
 *
 * Arguments and values of variables are secrets: client secrets stand there in the wild.
 */
export interface ExecConfig {
  readonly apiVersion: ApiVersion
  /** As configured, but made absolute if it was relative to a kubeconfig's folder. */
  readonly command: string
  readonly args: readonly Secret[]
  readonly env: readonly { readonly name: string; readonly value: Secret }[]
  /** Control characters are already made visible. */
  readonly installHint?: string
  readonly provideClusterInfo: boolean
  readonly interactiveMode: InteractiveMode
}

export function isApiVersion(value: string): value is ApiVersion {
  return (API_VERSIONS as readonly string[]).includes(value)
}

export function isInteractiveMode(value: string): value is InteractiveMode {
  return (INTERACTIVE_MODES as readonly string[]).includes(value)
}

/** What is known about the person who could be asked. */
interface Asking {
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean
  /** Set when the program reads standard input itself; the text says what for, and may be empty. */
  readonly stdinUnavailable?: string | undefined
  /** A run ahead of time, with nobody waiting for it, must not ask anybody. */
  readonly early?: boolean
}

type Interactivity =
  | { readonly interactive: boolean }
  /** Why a plugin that must ask cannot. */
  | { readonly refused: string }

/** Decides whether a plugin gets the terminal: the table of the exec protocol, plus runs ahead of time. */
export function decideInteractivity(mode: InteractiveMode, asking: Asking): Interactivity {
  const available = asking.isTerminal && asking.stdinUnavailable === undefined && !asking.early
  if (mode === 'Never') return { interactive: false }
  if (mode === 'IfAvailable') return { interactive: available }
  if (available) return { interactive: true }
  if (!asking.isTerminal) return { refused: 'standard input is not a terminal' }
  if (asking.stdinUnavailable === undefined) return { refused: 'nobody is waiting for this run' }
  const reader = asking.stdinUnavailable === '' ? '' : `: ${asking.stdinUnavailable}`
  return { refused: `standard input is unavailable${reader}` }
}
