// Runs bundled tests with one runtime, each file in a process of its own, and counts how they ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** Of one file: longer than any, so that only a process that does not end is killed. */
const LIMIT_MS = 240_000
/** The limit of one test in Bun, whose own is 5 s; the tests set shorter ones. */
const TEST_LIMIT_MS = 120_000

/** The arguments before the file, per runtime. */
const ARGUMENTS = {
  Node: [],
  Bun: ['test', '--timeout', String(TEST_LIMIT_MS)],
  Deno: ['test', '--allow-all', '--no-check', '--no-lock', '--quiet'],
}

/**
 * @param {'Node' | 'Bun' | 'Deno'} runtime
 * @param {string} program The path of the runtime.
 * @param {readonly string[]} files
 * @returns {Promise<{ run: number, passed: number, failingAsWritten: number, problems: string[] }>}
 */
export async function runTests(runtime, program, files) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-outcomes-'))
  const waiting = [...files]
  const ended = []
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      ended.push(await runFile({ runtime, program, file, folder }))
    }
  }
  try {
    // Most of the time is spent waiting.
    await Promise.all(Array.from({ length: 2 * availableParallelism() }, work))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const outcomes = ended.flatMap((each) => each.outcomes)
  const count = (wanted) => outcomes.filter(({ outcome }) => outcome === wanted).length
  return {
    run: outcomes.length,
    passed: count('passed'),
    failingAsWritten: count('failing as written'),
    problems: ended.flatMap(({ problems }) => problems),
  }
}

async function runFile({ runtime, program, file, folder }) {
  const name = basename(file)
  const path = join(folder, `${name}.json`)
  writeFileSync(path, '')
  const child = spawn(program, [...ARGUMENTS[runtime], file], {
    cwd: dirname(file),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', KUBECRED_OUTCOMES: path },
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
  }
  const [status, signal] = await once(child, 'close')
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const outcomes = lines.map((line) => JSON.parse(line))
  const problems = outcomes
    .filter(({ outcome }) => outcome === 'failed')
    .map((each) => `${name}: ${each.name}: ${each.error}`)
  if (outcomes.length === 0) problems.push(`${name}: no test ran\n${output}`)
  if (status !== 0 && problems.length === 0) {
    problems.push(`${name} ended with ${status ?? signal}\n${output}`)
  }
  return { outcomes, problems }
}
