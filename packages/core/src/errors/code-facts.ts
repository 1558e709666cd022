/** Whose fault an error is: it decides who has to act. */
export type Fault = 'kubeconfig' | 'plugin' | 'policy' | 'server' | 'network' | 'caller' | 'system'

export interface CodeFacts {
  /** Exit status of the program, 10 to 99. */
  readonly exit: number
  readonly fault: Fault
  /** Whether the same call may succeed later with nothing changed by hand. */
  readonly retryable: boolean
  /** What the code means, in one sentence. */
  readonly means: string
  /** What to do about it in general; an error's own `hint` is more exact. */
  readonly remedy: string
}

export function facts(
  exit: number,
  fault: Fault,
  again: 'retryable' | 'final',
  means: string,
  remedy: string,
): CodeFacts {
  return { exit, fault, retryable: again === 'retryable', means, remedy }
}
