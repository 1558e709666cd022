// Runs of vitest, and at their end what failed: a long output is often cut, and what failed first is far up.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** With more files than this, something is broken and not only in a hurry. */
const MOST_SECOND_TRIES = 3

export class TestRuns {
  #problems = []
  #unstable = []

  /**
   * Runs tests. A few files that failed get a second try, alone.
   *
   * @param options What the second try needs too, apart from the names of files.
   * @param env Variables over ours.
   * @returns Whether all is good.
   */
  run(node, args, { options = [], env = {} } = {}) {
    const { isGood, failures } = runOnce(node, args, env)
    if (isGood) return true
    const files = [...new Set(failures.map(({ file }) => file))]
    const told = failures.map(({ text }) => text)
    if (files.length === 0) told.push('vitest failed, and no test did: see above')
    // What belongs to no file cannot be tried again.
    const mayTryAgain = files.length > 0 && !files.includes(undefined)
    if (mayTryAgain && files.length <= MOST_SECOND_TRIES) {
      process.stdout.write(`\nOnce more, alone: ${files.join(' ')}\n`)
      if (runOnce(node, [...files, ...options, '--no-file-parallelism'], env).isGood) {
        this.#unstable.push(...told)
        return true
      }
    }
    this.#problems.push(...told)
    return false
  }

  /** Says what failed. Returns the exit status. */
  report() {
    const race =
      'UNSTABLE: failed beside the others, passed alone. A race, in the test or in what it tests'
    for (const [title, list] of [
      [race, this.#unstable],
      ['FAILED', this.#problems],
    ]) {
      if (list.length > 0) process.stderr.write(`\n${title}\n${list.join('\n')}\n`)
    }
    return this.#problems.length > 0 ? 1 : 0
  }
}

function runOnce(node, args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-test-'))
  const report = join(folder, 'report.json')
  const ended = spawnSync(node, ['node_modules/vitest/vitest.mjs', 'run', ...args], {
    stdio: 'inherit',
    // The configurations know it: reporters of the command line would take the place of theirs.
    env: { ...process.env, ...env, KUBECRED_TEST_REPORT: report },
  })
  const isGood = ended.status === 0
  // Written by test/failure-reporter.ts, unless vitest itself fell over.
  const failures = !isGood && existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : []
  rmSync(folder, { recursive: true, force: true })
  return { isGood, failures }
}
