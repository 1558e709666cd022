// `npm run fuzz -- [SECONDS] [--seed N] [--input FILE] [NAME…]`: gives changed inputs to our parsers (test/fuzz). Prints the
// seed, the number of cases of each parser, and where each finding is. The time is for all parsers together; 60 s by default.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const FOLDER = 'build/fuzz'
const DEFAULT_SECONDS = 60
/** To start, to make the last input smaller, and to end. */
const GRACE_SECONDS = 180

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, input: { type: 'string' } },
})
const isNumber = (text) => /^\d+$/.test(text ?? '')
const seconds = isNumber(positionals[0]) ? Number(positionals.shift()) : DEFAULT_SECONDS
const names = positionals
if (values.seed !== undefined && !/^-?\d+$/.test(values.seed)) fail('--seed takes a whole number')
if (values.input !== undefined && names.length !== 1) fail('--input needs the name of one parser')
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)

// The input may be one of the files there.
if (values.input === undefined) rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
process.stdout.write(
  values.input === undefined
    ? `seed ${seed}, ${seconds} s: npm run fuzz -- ${[seconds, '--seed', seed, ...names].join(' ')}\n`
    : `one input: ${values.input}\n`,
)
process.exitCode = (await run()) ? 0 : 1

/** @returns Whether nothing was found. */
async function run() {
  const input = values.input === undefined ? undefined : resolve(values.input)
  const asked = { seconds, seed, names, input, folder: resolve(FOLDER) }
  const line = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.fuzz.config.ts']
  const child = spawn(process.execPath, line, {
    stdio: 'inherit',
    env: { ...process.env, KUBECRED_FUZZ: JSON.stringify(asked) },
  })
  // A parser that never returns also stops the timers of its process.
  const timer = setTimeout(() => child.kill('SIGKILL'), (seconds + GRACE_SECONDS) * 1000)
  const [status, signal] = await new Promise((done) => child.once('exit', (...how) => done(how)))
  clearTimeout(timer)
  if (signal === 'SIGKILL') {
    process.stderr.write(`a case did not end: ${read('round') ?? 'before the first round'}\n`)
  }
  if (input === undefined) report()
  return status === 0
}

function report() {
  const text = read('results.json')
  if (text === undefined) return
  for (const { name, skipped, cases, seconds: took, findings, differences } of JSON.parse(text)) {
    const rate = took > 0 ? `, ${Math.round(cases / took)} per second` : ''
    const what =
      skipped === undefined ? `${cases} cases${rate}, ${findings.length} findings` : skipped
    process.stdout.write(`${name.padEnd(16)} ${what}\n`)
    for (const [kind, { count }] of Object.entries(differences)) {
      process.stdout.write(`${''.padEnd(16)} differs: ${kind} (${count} times)\n`)
    }
    findings.forEach((_, index) => {
      process.stdout.write(`${''.padEnd(16)} see ${join(FOLDER, `${name}-${index + 1}.txt`)}\n`)
    })
  }
}

function read(name) {
  const path = join(FOLDER, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
