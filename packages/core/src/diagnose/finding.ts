import { type Code, isCredentialError } from '../errors/index.ts'
import { jwtClaims, jwtExpiry } from '../formats/jwt.ts'
import { showControlCharacters } from '../secret/scrub.ts'

/** The steps of `diagnose`, in order. */
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

/** One step of `diagnose`. */
export type Step = (typeof STEPS)[number]

/**
 * The result of one step, as plain data without secrets.
 *
 * The verdict `warning` means that the step works but should be reviewed, `skipped` that an earlier failure prevented it.
 */
export interface Finding {
  readonly step: Step
  readonly verdict: 'ok' | 'warning' | 'error' | 'skipped'
  /** The result in one line. */
  readonly summary: string
  readonly details: readonly string[]
  /** How to fix it: one imperative sentence. */
  readonly remedy?: string
  readonly code?: Code
  readonly tookMs: number
}

/** What a step returns: a finding without the step's name and duration. */
export type StepResult = Omit<Finding, 'step' | 'tookMs' | 'details'> & {
  readonly details?: readonly string[]
}

/** Converts an error to a result. */
export function failure(error: unknown, details: readonly string[] = []): StepResult {
  if (!isCredentialError(error)) {
    const summary = error instanceof Error ? error.message : String(error)
    return { verdict: 'error', summary, details }
  }
  const { summary, hint, code } = error
  return { verdict: 'error', summary, details, remedy: hint, code }
}

const UNITS = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** Formats a duration in one unit: `11 min`, `3 h`, `40 ms`. */
export function formatDuration(milliseconds: number): string {
  const [name, size] = UNITS.find(([, each]) => milliseconds >= each) ?? ['ms', 1]
  const number = milliseconds / size
  // One decimal below 10 s, where rounding would matter.
  const shown =
    name === 's' && number < 10 ? number.toFixed(1).replace('.0', '') : Math.floor(number)
  return `${shown} ${name === 'days' && shown === 1 ? 'day' : name}`
}

interface Claims {
  readonly issuer: string | undefined
  readonly audience: string | undefined
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined
}

const MAX_CLAIM_LENGTH = 200

/** Reads the claims of a token without verifying it. Returns undefined if it is not a JWT. */
export function readClaims(token: string): Claims | undefined {
  const claims = jwtClaims(token)
  if (claims === undefined) return undefined
  const { iss, aud } = claims
  return {
    issuer: text(iss),
    audience: text(Array.isArray(aud) ? aud.join(', ') : aud),
    expiresAt: jwtExpiry(token),
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string'
    ? showControlCharacters(value).slice(0, MAX_CLAIM_LENGTH)
    : undefined
}
