import { closestName } from 'kubecred/internal'

/** Returns a suggestion to append to a message, or an empty string if no name is similar. */
export function didYouMean(typed: string, names: Iterable<string>): string {
  const name = closestName(typed, names)
  return name === undefined ? '' : `; did you mean ${name}?`
}
