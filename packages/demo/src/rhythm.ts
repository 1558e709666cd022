import type { Character } from './character.ts'

/** When things happen in the demo, in milliseconds. */
export interface Rhythm {
  /** How long jane's tokens live. */
  readonly tokenLifeMs: number
  /** The same for robot's certificates. They end neither when jane's tokens do, nor when something is revoked. */
  readonly certificateLifeMs: number
  /** The same for kim's. */
  readonly signerLifeMs: number
  readonly firstRevocationMs: number
  readonly nextRevocationMs: number
}

/** @param speed How many times as fast as usual. */
export function rhythmAt(speed: number): Rhythm {
  return {
    tokenLifeMs: 20_000 / speed,
    certificateLifeMs: 35_000 / speed,
    signerLifeMs: 40_000 / speed,
    firstRevocationMs: 10_000 / speed,
    nextRevocationMs: 20_000 / speed,
  }
}

/**
 * Revokes credentials now and then, each identity's in turn, always at the same times.
 *
 * @returns How to stop.
 */
export function keepRevoking(
  characters: readonly Character[],
  { firstRevocationMs, nextRevocationMs }: Rhythm,
  revoke: (character: Character) => void,
): () => void {
  const victims = characters.filter((each) => each.revoke !== undefined)
  let turn = 0
  const act = (): void => {
    const victim = victims[turn % victims.length]
    turn += 1
    if (victim !== undefined) revoke(victim)
    timer = setTimeout(act, nextRevocationMs)
  }
  let timer = setTimeout(act, firstRevocationMs)
  return () => clearTimeout(timer)
}

/** A time for people: `20 s`, `3.5 s`. */
export function inSeconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`
}
