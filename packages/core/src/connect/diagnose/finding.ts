import { type Code, isCredentialError } from '../../errors/index.ts'

/** What is looked at, in this order. */
export const STEPS = [
  'kubeconfig',
  'context',
  'method',
  'policy',
  'plugin',
  'credential',
  'proxy',
  'network',
  'tls',
  'identity',
] as const

export type Step = (typeof STEPS)[number]

/**
 * What was found at one step, for people and as plain data. It carries no secret.
 *
 * `odd` works but deserves a look; `skipped` could not be looked at because of something before it.
 */
export interface Finding {
  readonly step: Step
  readonly verdict: 'good' | 'odd' | 'bad' | 'skipped'
  /** One line. */
  readonly summary: string
  readonly details: readonly string[]
  /** What to do about it. */
  readonly remedy?: string
  readonly code?: Code
  readonly tookMs: number
}

/** A finding before it is told whose it is and how long it took. */
export type Look = Omit<Finding, 'step' | 'tookMs' | 'details'> & {
  readonly details?: readonly string[]
}

/** Something that failed, as a finding. */
export function failure(error: unknown, details: readonly string[] = []): Look {
  if (!isCredentialError(error)) {
    const summary = error instanceof Error ? error.message : String(error)
    return { verdict: 'bad', summary, details }
  }
  const { message, hint, code } = error
  return { verdict: 'bad', summary: message, details, remedy: hint, code }
}
