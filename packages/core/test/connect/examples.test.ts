import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const fileOf = (path: string): string => join(root, 'examples', path)
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

const NAMES = 'default\nkube-public\nkube-system\n'
const containing = (part: string) => expect.stringContaining(part) as unknown

interface Example {
  readonly file: string
  readonly args?: readonly string[]
  readonly shows: unknown
  /** The user that the server must see: jane is the one of the kubeconfig, ann has everything else. */
  readonly user?: 'jane' | 'ann'
  /** How many connections it opens; undefined if that may change. */
  readonly connections?: number
}

/** Each ends by itself. */
const EXAMPLES: readonly Example[] = [
  { file: 'list-namespaces.mjs', shows: NAMES },
  { file: 'undici.mjs', shows: containing(`${NAMES}Kubernetes v1.`) },
  { file: 'https.mjs', shows: NAMES },
  {
    file: 'http2.mjs',
    shows: 'pods in default: 1\npods in kube-public: 0\npods in kube-system: 0\n',
    connections: 1,
  },
  { file: 'ws.mjs', args: ['web', 'whoami'], shows: `${NAMES}jane` },
  { file: 'vault.mjs', shows: `${NAMES}login example: ready\n` },
  {
    file: 'metrics.mjs',
    shows: containing('\nrest_client_exec_plugin_call_total{code="0",call_status="no_error"} 1\n'),
  },
  { file: 'client-node.mjs', shows: NAMES },
  { file: 'desktop/main.mjs', shows: NAMES },
  { file: 'exec-plugin/main.mjs', shows: NAMES, user: 'ann' },
  { file: 'plugin-kit/main.mjs', shows: NAMES, user: 'ann' },
]
const NEEDS_OPENSSL: Example = { file: 'signer/main.mjs', shows: NAMES, user: 'ann' }

/** Each ends with Ctrl-C. */
const WATCHING = [
  { file: 'watch.mjs', list: NAMES, change: 'ADDED seen\n' },
  { file: 'informer.mjs', list: NAMES.replace(/.+/g, 'add $&'), change: 'add seen\n' },
]

let sandbox: Sandbox
let kubeconfig: string
let children: Child[]

beforeEach(async () => {
  children = []
  sandbox = await startSandbox()
  kubeconfig = sandbox.writeKubeconfig({
    user: { exec: await sandbox.plugin({ user: 'jane' }) },
  })
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await sandbox.close()
})

describe('examples/', () => {
  it.each(EXAMPLES)('$file lists the namespaces', check)

  it.skipIf(!hasOpenssl)('signer/main.mjs lists the namespaces (needs openssl)', () =>
    check(NEEDS_OPENSSL),
  )

  it('vault.mjs prefers its own login to the kubeconfig', async () => {
    const CA_FILE = join(sandbox.folder, 'own-ca.crt')
    writeFileSync(CA_FILE, sandbox.caPem)
    const { token: TOKEN } = sandbox.issueToken({ user: 'ann' })
    const { out } = await finish(run('vault.mjs', [], { SERVER: sandbox.url, CA_FILE, TOKEN }))
    expect(out).toBe(`${NAMES}login example: ready\n`)
    expect(sandbox.requests).toMatchObject([{ user: 'ann' }])
    expect(sandbox.pluginRuns).toBe(0)
  })

  it('desktop/main.mjs shows the login that a plugin asks for', async () => {
    const args = ['-c', 'echo "Session expired. Run: corp login --sso" >&2; exit 1']
    kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command: '/bin/sh', args } } })
    const { out } = await finish(run('desktop/main.mjs', [], { HOME: sandbox.folder }))
    expect(out).toBe('Needs a login: run corp login --sso\n')
  })

  it.each(WATCHING)('$file shows a change, until Ctrl-C', async ({ file, list, change }) => {
    const child = run(file)
    const finished = finish(child)
    await untilShown(child, list)
    const shown = untilShown(child, change)
    await create('/api/v1/namespaces', 'seen')
    await shown
    child.kill('SIGINT')
    expect(await finished).toMatchObject({ out: list + change, code: 0 })
  })

  it.each([
    ['ws.mjs web whoami', `${NAMES}jane`],
    ['exec-plugin/main.mjs', NAMES],
  ])('sandbox.mjs runs %s without a cluster', async (words, shows) => {
    const [file = '', ...args] = words.split(' ')
    const env = { KUBECONFIG: '/nowhere' }
    expect(await finish(run('sandbox.mjs', [fileOf(file), ...args], env))).toEqual({
      out: shows,
      err: '',
      code: 0,
    })
  })

  it('has no program that is not run here, or that its README does not list', () => {
    const programs = readdirSync(fileOf('.'), { recursive: true })
      .map((path) => String(path).replaceAll('\\', '/'))
      .filter((path) => /^[^/]+\.mjs$|\/main\.mjs$/.test(path))
    const tested = [...EXAMPLES, NEEDS_OPENSSL, ...WATCHING].map(({ file }) => file)
    expect(programs.sort()).toEqual([...tested, 'sandbox.mjs'].sort())
    const page = readFileSync(fileOf('README.md'), 'utf8')
    expect(programs.filter((path) => !page.includes(`](${path})`))).toEqual([])
  })

  it.each(['README.md', 'packages/core/README.md'])('begins with the program of %s', (page) => {
    const [, program] = /```js\n(.*?)```/s.exec(readFileSync(join(root, page), 'utf8')) ?? []
    expect(readFileSync(fileOf('list-namespaces.mjs'), 'utf8')).toBe(program)
  })
})

async function check(example: Example): Promise<void> {
  const { file, args = [], shows, user = 'jane', connections } = example
  await create('/api/v1/namespaces/default/pods', 'web')
  const { token } = sandbox.issueToken({ user: 'ann' })
  const { certificate, key } = await sandbox.issueCertificate({ user: 'ann' })
  writeFileSync(join(sandbox.folder, 'client.crt'), certificate)
  writeFileSync(join(sandbox.folder, 'client.key'), key, { mode: 0o600 })
  const before = sandbox.requests.length
  // The start-up files of the user's shell are not part of the test.
  const env = { EXAMPLE_TOKEN: token, HOME: sandbox.folder }
  expect(await finish(run(file, args, env))).toEqual({
    out: shows,
    err: '',
    code: 0,
  })
  const requests = sandbox.requests.slice(before)
  expect([...new Set(requests.map((request) => request.user))]).toEqual([user])
  if (connections === undefined) return
  expect(new Set(requests.map(({ connection }) => connection)).size).toBe(connections)
}

type Child = ChildProcessByStdio<null, Readable, Readable>

/** Starts a program as its first comment says, in the folder of the sandbox. */
function run(
  file: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Child {
  const users = join(dirname(fileOf(file)), 'user.yaml')
  const files = existsSync(users) ? [kubeconfig, users] : [kubeconfig]
  const child = spawn(process.execPath, [fileOf(file), ...args], {
    cwd: sandbox.folder,
    env: { ...process.env, KUBECONFIG: files.join(delimiter), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  return child
}

interface Finished {
  readonly out: string
  readonly err: string
  readonly code: number | null
}

async function finish(child: Child): Promise<Finished> {
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { out, err, code }
}

/** Waits until the program has printed this; fails if it ends before. */
function untilShown(child: Child, part: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let shown = ''
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk
      if (shown.includes(part)) resolve()
    })
    child.once('close', () => reject(new Error(`it ended after ${JSON.stringify(shown)}`)))
  })
}

async function create(path: string, name: string): Promise<void> {
  const { token } = sandbox.issueToken({ user: 'admin' })
  const admin = sandbox.writeKubeconfig({ user: { token } })
  await using cluster = await connect({ kubeconfig: admin })
  const { status } = await cluster.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
  })
  expect(status).toBe(201)
}
