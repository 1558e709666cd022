// What one pod of the proxy needs, with the flags of deploy/kubernetes/overlays/token-review: memory and processor time.
// Not part of `npm run bench`: node benchmarks/run.mjs pod-memory. docs/deploy.md has the figures, the manifests the limits.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startSandbox } from '@kubecred/sandbox'

export const name = 'one pod of the proxy: TLS, tokens of callers, access log, metrics'

const REQUESTS = 20_000
const WORKERS = 32
const WATCHES = 1_000
const BODIES = 100
/** As much of a body as is kept for a second try. */
const BODY = Buffer.alloc(256 * 1024, ' ')
const CALLERS = 1_000
const program = fileURLToPath(new URL('../packages/cli/bin/kubecred.cjs', import.meta.url))

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-pod-'))
  const sandbox = await startSandbox()
  const user = { username: 'system:serviceaccount:shop:web', groups: ['system:serviceaccounts'] }
  const review = { status: { authenticated: true, audiences: ['kubecred-proxy'], user } }
  sandbox.respondWith(({ path }) =>
    path.endsWith('/tokenreviews') ? { status: 201, body: review } : undefined,
  )
  const { token } = sandbox.issueToken({ user: 'proxy', groups: ['system:masters'] })
  const proxy = await start(sandbox.writeKubeconfig({ user: { token } }), folder)
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: Infinity })
  const send = (options, body) => sendTo(proxy.port, agent, options, body)
  const rows = []
  const note = (what) => rows.push({ what, value: proxy.mebibytes('VmRSS'), unit: 'MiB' })
  try {
    await send({ path: '/version' })
    note('resident memory, ready')
    const before = proxy.processorMs()
    await times(REQUESTS, WORKERS, (nth) =>
      send({ path: '/api/v1/namespaces', caller: nth % CALLERS }),
    )
    const perRequest = (proxy.processorMs() - before) / REQUESTS
    note(`after ${REQUESTS} requests of ${CALLERS} callers`)
    const post = { method: 'POST', path: '/api/v1/namespaces' }
    await times(BODIES, BODIES, () => send(post, BODY))
    note(`after ${BODIES} bodies of 256 KiB at once`)
    await times(WATCHES, 50, () => send({ path: '/api/v1/namespaces?watch=true' }, 'open'))
    note(`with ${WATCHES} open watches`)
    rows.push({ what: 'the most ever', value: proxy.mebibytes('VmHWM'), unit: 'MiB' })
    rows.push({ what: 'processor time per request', value: perRequest, unit: 'ms' })
  } finally {
    agent.destroy()
    proxy.child.kill('SIGKILL')
    await sandbox.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return rows
}

async function start(kubeconfig, folder) {
  const [key, certificate] = [join(folder, 'tls.key'), join(folder, 'tls.crt')]
  const make = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=proxy`
  execFileSync('openssl', [...make.split(' '), '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  const flags = [
    '--authenticate-callers',
    '--impersonate-callers',
    '--caller-audiences=kubecred-proxy',
  ]
  const more = ['--no-page', '--health-port=0', '--metrics', '--log-format=json', '-o', 'json']
  const tls = [`--tls-cert-file=${certificate}`, `--tls-key-file=${key}`]
  const args = ['proxy', '--kubeconfig', kubeconfig, '--port=0', ...tls, ...flags, ...more]
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { port } = JSON.parse(line)
  child.stdout.resume()
  const read = (file) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8')
  return {
    child,
    port,
    mebibytes: (field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(read('status'))[1]) / 1024,
    /** In user and system mode, from ticks of 10 ms. */
    processorMs: () => {
      const fields = read('stat').split(') ')[1].split(' ')
      return (Number(fields[11]) + Number(fields[12])) * 10
    },
  }
}

/** Sends a request, and reads the response unless it stays open. The server rejects the bodies, which are empty. */
async function sendTo(port, agent, { caller = 0, ...options }, body) {
  const headers = { authorization: `Bearer token-of-caller-${caller}` }
  const sent = request({ host: '127.0.0.1', port, agent, headers, ...options })
  const [response] = await once(sent.end(body === 'open' ? undefined : body), 'response')
  const expected = options.method === 'POST' ? 400 : 200
  if (response.statusCode !== expected) throw new Error(`${options.path}: ${response.statusCode}`)
  response.on('error', () => {}).resume()
  if (body !== 'open') await once(response, 'end')
}

/** Runs work a number of times, several at a time. */
async function times(count, atOnce, work) {
  let next = 0
  const worker = async () => {
    for (let nth = next++; nth < count; nth = next++) await work(nth)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
