// `npm run bogo -- FOLDER`: runs the TLS tests of BoringSSL against our TLS 1.3 client with an external signing key.
// FOLDER is ssl/test/runner of a checkout of BoringSSL, with its test program `runner.test` already built there.
// A test that fails must be in expected-failures.json. Every failure is tried again with Node's own client: what fails
// there too is OpenSSL's.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Not ours: other protocols and versions, servers, and resumption, which is never tried with a signing key. */
const SKIPPED = [
  '*DTLS*',
  '*QUIC*',
  '*Server*',
  '*Resum*',
  '*EarlyData*',
  '*-TLS12*',
  '*-TLS11*',
  '*-TLS1',
]

const [folder] = process.argv.slice(2)
const runner = resolve(folder ?? '', 'runner.test')
if (folder === undefined || !existsSync(runner)) {
  process.stderr.write(
    'usage: npm run bogo -- FOLDER   with the program runner.test of BoringSSL in it\n',
  )
  process.exit(2)
}
const expected = JSON.parse(
  readFileSync(new URL('expected-failures.json', import.meta.url), 'utf8'),
)
const known = new Set(Object.values(expected).flat())
const reports = mkdtempSync(join(tmpdir(), 'kubecred-bogo-'))
try {
  const results = runTests(['-skip', SKIPPED.join(';')])
  const failed = namesWith('FAIL', results)
  const plain =
    failed.length === 0 ? {} : runTests(['-test', failed.join(';'), '-shim-extra-flags=-plain'])
  report(results, failed, new Set(namesWith('FAIL', plain)))
} finally {
  rmSync(reports, { recursive: true, force: true })
}

/** Returns the result of each test. */
function runTests(args) {
  const output = join(reports, 'results.json')
  const shim = fileURLToPath(new URL('shim.mjs', import.meta.url))
  const options = ['-loose-errors', '-allow-unimplemented', '-num-workers=2', '-pipe']
  const { error, stderr } = spawnSync(
    runner,
    [...options, `-shim-path=${shim}`, `-json-output=${output}`, ...args],
    { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 },
  )
  if (error !== undefined) throw error
  if (!existsSync(output)) throw new Error(`the runner wrote no results: ${stderr.slice(-500)}`)
  const { tests } = JSON.parse(readFileSync(output, 'utf8'))
  rmSync(output)
  return tests
}

function namesWith(result, tests) {
  return Object.keys(tests).filter((name) => tests[name].actual === result)
}

function report(results, failed, failedPlain) {
  const say = (line) => process.stdout.write(`${line}\n`)
  const [passed, skipped] = ['PASS', 'SKIP'].map((result) => namesWith(result, results))
  for (const name of failed.filter((each) => !known.has(each))) {
    const whose = failedPlain.has(name)
      ? "fails with Node's own client too"
      : 'fails with ours only'
    say(`unexpected: ${name} ${whose}`)
    process.exitCode = 1
  }
  for (const name of passed.filter((each) => known.has(each)))
    say(`passes, remove it from the list: ${name}`)
  const ours = failed.filter((name) => !failedPlain.has(name))
  say(
    `${passed.length} passed, ${failed.length} failed (${ours.length} with our client only), ${skipped.length} do not apply`,
  )
}
