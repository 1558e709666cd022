import { type Code, isCredentialError } from '../errors/index.ts'
import { jwtClaims, jwtExpiry } from '../formats/jwt.ts'
import { showControlCharacters } from '../secret/scrub.ts'

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

const UNITS = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** A time span in one unit, as people say it: `11 min`, `3 h`, `40 ms`. */
export function spanOf(milliseconds: number): string {
  const [name, size] = UNITS.find(([, each]) => milliseconds >= each) ?? ['ms', 1]
  const number = milliseconds / size
  // One digit more where it matters: 1.5 s is not 2 s.
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

const LONGEST = 200

/** What a token says about itself, without checking it; undefined when it is no JWT. */
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
  return typeof value === 'string' ? showControlCharacters(value).slice(0, LONGEST) : undefined
}
