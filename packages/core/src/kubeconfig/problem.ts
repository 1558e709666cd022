import { KubeconfigInvalidError } from '../errors/kubeconfig-errors.ts'

/** Something that makes a selected entry unusable. */
export interface Problem {
  /** What is wrong, with entry and file; lower case, no final stop. */
  readonly what: string
  /** What to do about it; an imperative sentence. */
  readonly remedy: string
}

/**
 * Reports all problems at once, so that a file needs one correction and not several.
 *
 * @throws {KubeconfigInvalidError} When there is any.
 */
export function throwProblems(problems: readonly Problem[]): void {
  if (problems.length === 0) return
  throw new KubeconfigInvalidError(
    problems.map((problem) => problem.what),
    { hint: [...new Set(problems.map((problem) => problem.remedy))].join(' ') },
  )
}
