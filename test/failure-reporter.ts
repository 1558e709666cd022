import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Something that failed, for tools/test-runs.mjs. */
interface Failure {
  /** In which file; absent where nobody knows. */
  readonly file?: string
  readonly text: string
}

/** The words of vitest for a process that is gone. */
const GONE = /^\[vitest-pool\]|Worker exited unexpectedly/

/** Writes what failed into a file, as JSON. */
export class FailureReporter implements Reporter {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const unfinished = modules.filter(isUnfinished)
    const failures: Failure[] = [
      ...modules.flatMap(failuresOf),
      ...unfinished.map((module) => failureIn(module, 'was not finished: its process ended')),
      // Of a process that is gone the unfinished file tells; everything else is a failure of its own.
      ...errors
        .filter(({ message }) => unfinished.length === 0 || !GONE.test(message))
        .map(unhandled),
    ]
    writeFileSync(this.#path, JSON.stringify(failures))
  }
}

function isUnfinished(module: TestModule): boolean {
  if (module.state() === 'pending' || module.state() === 'queued') return true
  return [...module.children.allTests('pending')].length > 0
}

function failuresOf(module: TestModule): Failure[] {
  return [
    ...module.errors().map((error) => failureIn(module, wordsOf(error))),
    ...[...module.children.allTests('failed')].map((test) => {
      const { errors = [] } = test.result()
      return failureIn(module, [test.fullName, ...errors.map(wordsOf)].join('\n  '))
    }),
  ]
}

function failureIn({ moduleId }: TestModule, text: string): Failure {
  const file = relative(process.cwd(), moduleId)
  return { file, text: `${file}\n  ${text}` }
}

function unhandled(error: SerializedError): Failure {
  const { VITEST_TEST_PATH: path } = error as { VITEST_TEST_PATH?: unknown }
  const text = `an error that nobody handled\n  ${wordsOf(error)}`
  if (typeof path !== 'string') return { text }
  const file = relative(process.cwd(), path)
  return { file, text: `${file}\n  ${text}` }
}

function wordsOf({ stack, message }: SerializedError): string {
  return stack ?? message
}
