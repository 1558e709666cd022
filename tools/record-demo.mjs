// Records the first minute of `kubecred-demo` on a pseudo-terminal: docs/demo.cast in asciinema's format, and as text in
// docs/demo.md. Replaces the ports and secrets of this machine.
// Needs `script` (Debian: bsdutils), and the build.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SIZE = { width: 88, height: 32 }
const DURATION = '60s'
/** Output within this time is recorded as one event. */
const TOGETHER_MS = 30
const BLOCK = /(<!-- recorded by tools\/record-demo\.mjs -->\n\n```text\n)[\s\S]*?(\n```\n)/

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*[A-Za-z]`, 'g')

const inTree = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const program = inTree('packages/demo/bin/kubecred-demo.mjs')

const chunks = await record()
const whole = chunks.map(({ text }) => text).join('')
if (!/failed +0\r\n/.test(whole)) fail('a request failed in this recording; record again')
const leak = /#[\w-]{30,}|\/(?:tmp|home|root|work|Users)\//.exec(whole)
if (leak !== null) fail(`the recording contains a secret or a path: ${leak[0]}`)

const header = { version: 2, ...SIZE, title: 'kubecred-demo', env: { TERM: 'xterm-256color' } }
const events = chunks.map(({ at, text }) => [Number((at / 1000).toFixed(3)), 'o', text])
const lines = [header, ...events].map((each) => JSON.stringify(each))
writeFileSync(inTree('docs/demo.cast'), `${lines.join('\n')}\n`)

const page = readFileSync(inTree('docs/demo.md'), 'utf8')
if (!BLOCK.test(page)) fail('docs/demo.md has no block for the recording')
writeFileSync(
  inTree('docs/demo.md'),
  page.replace(BLOCK, (_, before, after) => before + asText(whole) + after),
)

async function record() {
  const line = `stty cols ${SIZE.width} rows ${SIZE.height}; exec '${process.execPath}' '${program}' --no-open --duration ${DURATION}`
  const { PATH, HOME, TMPDIR } = process.env
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), TERM: 'xterm-256color', LANG: 'C.UTF-8' },
  })
  const found = [{ at: 0, text: '$ kubecred-demo\r\n' }]
  const startedAt = performance.now()
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const at = performance.now() - startedAt
    const last = found.at(-1)
    if (at - last.at < TOGETHER_MS && found.length > 1) last.text += text
    else found.push({ at, text })
  })
  const [status] = await once(child, 'close')
  if (status !== 0) fail(`the demo ended with status ${status}`)
  return found.map(({ at, text }) => ({ at, text: makeNeutral(text) }))
}

function makeNeutral(text) {
  return text.replace(/127\.0\.0\.1:\d+\/#[\w.~-]+/g, '127.0.0.1:40123/#…')
}

/** Returns the final text of the terminal, without colours and without the status line. */
function asText(terminal) {
  return terminal
    .split('\n')
    .map((line) => line.replace(/\r$/, '').split('\r').at(-1))
    .map((line) => line.replaceAll(COLOURS, '').trimEnd())
    .join('\n')
    .trim()
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
