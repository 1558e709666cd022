import type { Character } from './character.ts'

const FIRST_MS = 10_000
const THEN_MS = 20_000

/**
 * Takes something back from somebody now and then, each in turn, always at the same times.
 *
 * @returns How to stop.
 */
export function keepRevoking(
  characters: readonly Character[],
  revoke: (character: Character) => void,
): () => void {
  const victims = characters.filter((each) => each.revoke !== undefined)
  let turn = 0
  const act = (): void => {
    const victim = victims[turn % victims.length]
    turn += 1
    if (victim !== undefined) revoke(victim)
    timer = setTimeout(act, THEN_MS)
  }
  let timer = setTimeout(act, FIRST_MS)
  return () => clearTimeout(timer)
}
