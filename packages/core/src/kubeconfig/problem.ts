import { KubeconfigInvalidError } from '../errors/index.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { GIVEN_KUBECONFIG, type Inline } from './inline-kubeconfig.ts'

/** Something that makes a selected entry unusable. */
export interface Problem {
  /** What is wrong, with entry and file; lower case, no final stop. */
  readonly what: string
  /** What to do about it; an imperative sentence. */
  readonly remedy: string
  /** Set when an option is at fault, and no entry of a file. */
  readonly isOption?: boolean
}

/**
 * Reports all problems at once, so that a file needs one correction and not several. Wrong options come first.
 *
 * @throws {KubeconfigInvalidError} When there is any.
 */
export function throwProblems(problems: readonly Problem[]): void {
  if (problems.length === 0) return
  const options = problems.filter(({ isOption }) => isOption)
  const shown = options.length > 0 ? options : problems
  throw new KubeconfigInvalidError(
    shown.map((problem) => problem.what),
    {
      hint: [...new Set(shown.map((problem) => problem.remedy))].join(' '),
      fault: options.length > 0 ? 'options' : 'kubeconfig',
    },
  )
}

const LONGEST_SHOWN = 120

/** Puts a name from a file in quotes for a message: on one line, without control characters, cut when long. */
export function quoteName(name: string): string {
  const shown = name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name
  return showControlCharacters(JSON.stringify(shown))
}

/** Names an entry and its file, for messages: `user "prod" in "/home/ann/.kube/config"`. */
export function describeEntry(
  kind: 'cluster' | 'user' | 'context',
  entry: {
    readonly name: string
    readonly file: string | undefined
    readonly inline?: Inline | undefined
  },
): string {
  if (entry.inline !== undefined) return `${kind} ${quoteName(entry.name)} in ${GIVEN_KUBECONFIG}`
  if (entry.file !== undefined)
    return `${kind} ${quoteName(entry.name)} in ${quoteName(entry.file)}`
  return entry.name === ''
    ? `the ${kind} given by flags or environment`
    : `${kind} ${quoteName(entry.name)}`
}
