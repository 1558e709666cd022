import { closestName } from 'kubecred/internal'

/** Puts the name that was probably meant, if there is one, behind a message. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const name = closestName(typed, names)
  return name === undefined ? '' : `; did you mean ${name}?`
}
