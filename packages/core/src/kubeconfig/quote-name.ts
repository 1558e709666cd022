import { showControlCharacters } from '../secret/scrub.ts'

const LONGEST_SHOWN = 120

/** Puts a name from a file in quotes for a message: on one line, without control characters, cut when long. */
export function quoteName(name: string): string {
  const shown = name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name
  return showControlCharacters(JSON.stringify(shown))
}

/** Names an entry and its file, for messages: `user "prod" in "/home/ann/.kube/config"`. */
export function describeEntry(
  kind: 'cluster' | 'user' | 'context',
  entry: { readonly name: string; readonly file: string | undefined },
): string {
  if (entry.file !== undefined)
    return `${kind} ${quoteName(entry.name)} in ${quoteName(entry.file)}`
  return entry.name === ''
    ? `the ${kind} given by flags or environment`
    : `${kind} ${quoteName(entry.name)}`
}
