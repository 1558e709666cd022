import { KubeconfigInvalidError } from '../errors/kubeconfig-errors.ts'

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
