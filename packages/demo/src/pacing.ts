import type { DemoUser } from './demo-user.ts'

/** The lifetimes and intervals of the demo, in milliseconds. */
export interface Pacing {
  /** Lifetime of Jane's tokens. */
  readonly tokenLifeMs: number
  /** Lifetime of Robot's certificates; chosen so that they expire at other times than tokens and revocations. */
  readonly certificateLifeMs: number
  /** Lifetime of Kim's certificates. */
  readonly signerLifeMs: number
  readonly firstRevocationMs: number
  readonly nextRevocationMs: number
}

/** Returns the pacing for a speed. @param speed How many times faster than normal. */
export function pacingAt(speed: number): Pacing {
  return {
    tokenLifeMs: 20_000 / speed,
    certificateLifeMs: 35_000 / speed,
    signerLifeMs: 40_000 / speed,
    firstRevocationMs: 10_000 / speed,
    nextRevocationMs: 20_000 / speed,
  }
}

/**
 * Revokes the credentials of the users in turn, at fixed intervals.
 *
 * @returns A function that stops it.
 */
export function revokePeriodically(
  users: readonly DemoUser[],
  { firstRevocationMs, nextRevocationMs }: Pacing,
  revoke: (user: DemoUser) => void,
): () => void {
  const revocable = users.filter((each) => each.revoke !== undefined)
  let turn = 0
  const act = (): void => {
    const next = revocable[turn % revocable.length]
    turn += 1
    if (next !== undefined) revoke(next)
    timer = setTimeout(act, nextRevocationMs)
  }
  let timer = setTimeout(act, firstRevocationMs)
  return () => clearTimeout(timer)
}

/** Formats a duration: `20 s`, `3.5 s`. */
export function inSeconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`
}
