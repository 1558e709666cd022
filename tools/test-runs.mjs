// Runs of vitest, and at their end what failed: a long output is often cut, and what failed first is far up.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

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
    if (files.length > 0 && files.length <= MOST_SECOND_TRIES) {
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
  const failures = isGood ? [] : failuresIn(report)
  rmSync(folder, { recursive: true, force: true })
  return { isGood, failures }
}

function failuresIn(report) {
  if (!existsSync(report)) return []
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name)
    const failed = assertionResults.filter((test) => test.status === 'failed')
    // Its process has ended before it: nobody knows how these would have gone.
    if (assertionResults.some((test) => test.status === 'pending'))
      failed.push({ fullName: 'was not finished', failureMessages: ['its process ended'] })
    if (failed.length === 0)
      return status === 'failed' ? [{ file, text: `${file}\n  ${message}` }] : []
    return failed.map(({ fullName, failureMessages }) => ({
      file,
      text: `${file}\n  ${fullName}\n  ${failureMessages.join('\n  ')}`,
    }))
  })
}
