import type { Secret } from '../secret/secret.ts'

/** The API group of the exec plugin protocol. */
export const GROUP = 'client.authentication.k8s.io'

/** Supported API versions of the exec plugin protocol, newest first. */
export const API_VERSIONS = [`${GROUP}/v1`, `${GROUP}/v1beta1`, `${GROUP}/v1alpha1`] as const
/** A supported API version of the exec plugin protocol. */
export type ApiVersion = (typeof API_VERSIONS)[number]

/** The values of `exec.interactiveMode`. */
export const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const
/** Whether a plugin needs standard input. */
export type InteractiveMode = (typeof INTERACTIVE_MODES)[number]

/**
 * The validated `exec` stanza of a user entry.
 *
 * Arguments and values of variables are secrets, because real stanzas contain client secrets.
 */
export interface ExecConfig {
  readonly apiVersion: ApiVersion
  /** As configured; a path relative to the kubeconfig is made absolute. */
  readonly command: string
  readonly args: readonly Secret[]
  readonly env: readonly { readonly name: string; readonly value: Secret }[]
  /** Control characters are already made visible. */
  readonly installHint?: string
  readonly provideClusterInfo: boolean
  readonly interactiveMode: InteractiveMode
}

/** Returns whether a value is a supported API version. */
export function isApiVersion(value: string): value is ApiVersion {
  return (API_VERSIONS as readonly string[]).includes(value)
}

/** Returns whether a value is an interactive mode. */
export function isInteractiveMode(value: string): value is InteractiveMode {
  return (INTERACTIVE_MODES as readonly string[]).includes(value)
}

/** Whether standard input can be given to a plugin. */
interface InputState {
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean
  /** Set if the program uses standard input itself; the text says what for, and may be empty. */
  readonly stdinUnavailable?: string | undefined
  /** Whether it is a run before expiry, for which no request waits: it must not prompt the user. */
  readonly early?: boolean
}

type Interactivity =
  | { readonly interactive: boolean }
  /** Why a plugin with mode `Always` cannot run. */
  | { readonly refused: string }

/** Decides whether a plugin gets standard input: the rules of the exec protocol, extended to runs before expiry. */
export function decideInteractivity(mode: InteractiveMode, input: InputState): Interactivity {
  const available = input.isTerminal && input.stdinUnavailable === undefined && !input.early
  if (mode === 'Never') return { interactive: false }
  if (mode === 'IfAvailable') return { interactive: available }
  if (available) return { interactive: true }
  if (!input.isTerminal) return { refused: 'standard input is not a terminal' }
  if (input.stdinUnavailable === undefined) return { refused: 'no request is waiting for this run' }
  const reader = input.stdinUnavailable === '' ? '' : `: ${input.stdinUnavailable}`
  return { refused: `standard input is unavailable${reader}` }
}
