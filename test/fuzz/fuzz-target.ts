/** Records that we and a reference differ, without calling it a finding: the kind is counted, and its first input kept. */
export type Note = (kind: string) => void

/** A parser with its inputs. */
export interface FuzzTarget {
  readonly name: string
  /** What must hold, in one sentence. */
  readonly about: string
  /** Its part of the time: 1 by default, more for a slow reference. */
  readonly share?: number
  /** Why it cannot run here; undefined if it can. */
  missing?(): string | undefined
  open(): Promise<OpenTarget>
}

/** A target that is ready to run. */
export interface OpenTarget extends Partial<AsyncDisposable> {
  /** The inputs that are changed. */
  readonly corpus: readonly Buffer[]
  /** Texts that mean something to this parser; they are inserted anywhere. */
  readonly words?: readonly string[]
  /** Throws if something that must hold does not. The same input must always have the same result. */
  check(input: Buffer, note: Note): void | Promise<void>
}

/** Throws unless a condition holds. */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

/** Returns the result of `work`, or the error that it threw. */
export function resultOf<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}
