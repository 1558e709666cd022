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
