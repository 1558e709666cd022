import { appendFileSync } from 'node:fs'
import { describe as describeSuite, it as runTest } from 'node:test'

export { expect } from './expect.ts'

// The part of vitest's interface that the shared tests use, over `node:test`, which Node, Bun and Deno have.
// tools/runtimes/bundle-tests.mjs puts it in the place of vitest.

type Run = () => unknown

/** How a test ended. */
export interface Outcome {
  readonly name: string
  readonly outcome: 'passed' | 'failing as written' | 'failed'
  readonly error?: string
}

/** The end of the name of a test that passes if something fails for its written reason. */
const AS_WRITTEN = ': cannot hold'
const DEFAULT_LIMIT_MS = 30_000

/** The tests of a concurrent suite: `node:test` runs tests in turn under Bun and Deno, so the first one starts all. */
class Together {
  readonly #waiting: (() => void)[] = []

  /** Returns a function that waits for the end of a test, and starts all tests of the suite if that was not done yet. */
  add(run: Run): Run {
    let ended: Promise<unknown> | undefined
    this.#waiting.push(() => {
      ended = Promise.resolve().then(run)
      // The test that awaits it reports the error.
      ended.catch(() => {})
    })
    return () => {
      for (const start of this.#waiting.splice(0)) start()
      return ended
    }
  }
}

let together: Together | undefined

export function describe(name: string, body: () => void): void {
  void describeSuite(name, body)
}

describe.concurrent = (name: string, body: () => void): void => {
  describe(name, () => {
    together = new Together()
    body()
    together = undefined
  })
}

export function it(name: string, run: Run, timeout = DEFAULT_LIMIT_MS): void {
  const wait = together?.add(run) ?? run
  // Its own limit is longer, because a test that it ends is not reported here.
  void runTest(name, { timeout: timeout + 5000 }, async () => {
    try {
      await withinLimit(wait(), timeout)
      report({ name, outcome: name.endsWith(AS_WRITTEN) ? 'failing as written' : 'passed' })
    } catch (error) {
      report({ name, outcome: 'failed', error: String((error as Error)?.stack ?? error) })
      throw error
    }
  })
}

async function withinLimit(run: unknown, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${limitMs} ms`)), limitMs)
  })
  try {
    await Promise.race([run, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

it.skipIf = (isSkipped: boolean): typeof it | (() => void) => (isSkipped ? () => {} : it)

/** Appends how a test ended to the file that tools/runtimes/run-tests.mjs reads: the three runtimes print it differently. */
function report(ended: Outcome): void {
  const path = process.env['KUBECRED_OUTCOMES']
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(ended)}\n`)
}
