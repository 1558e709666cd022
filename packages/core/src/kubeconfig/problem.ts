import { KubeconfigInvalidError } from '../errors/index.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { GIVEN_KUBECONFIG, type Inline } from './inline-kubeconfig.ts'

/** A problem that makes a selected entry or an option invalid. */
export interface Problem {
  /** What is wrong, with entry and file, as a part of a message: lower case, no final stop. */
  readonly what: string
  /** What to do about it, as an imperative sentence. */
  readonly remedy: string
  /** Set if the problem is in an option, not in an entry of a file. */
  readonly isOption?: boolean
}

/**
 * Throws one error for all problems, so that the user can correct them at once. If options have problems, only those
 * are reported.
 *
 * @throws {KubeconfigInvalidError} `ERR_KUBECONFIG_INVALID` if there is any problem.
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

const MAX_SHOWN_NAME = 120

/** Quotes a name from a file for a message: on one line, without control characters, at most 120 characters. */
export function quoteName(name: string): string {
  const shown = name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name
  return showControlCharacters(JSON.stringify(shown))
}

/** Describes an entry and its file for messages: `user "prod" in "/home/ann/.kube/config"`. */
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
    ? `the ${kind} from options or environment`
    : `${kind} ${quoteName(entry.name)}`
}
