import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KubeconfigUser, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { isCredentialError } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Heard, listenToLibrary, listenToProgram, writeDown } from './channels.ts'

/** Long, and unlike the format of any token, so that no pattern can hide it. */
const MARK = 'canary-Zq7Xw2Lm9Rt4'
let count = 0
const next = (): number => {
  count += 1
  return count
}
const mark = (): string => `${MARK}-${next()}`

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox({ basic: { bob: `${MARK}-basic` } })
})
afterAll(() => sandbox.close())

const file = (name: string, content: string): string => {
  const path = join(sandbox.folder, name)
  writeFileSync(path, content)
  return path
}

/** A plugin that runs a shell script. */
function plugin(name: string, script: string): string {
  const path = file(name, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o700)
  return path
}

const answerWith = (status: unknown): string =>
  `printf '%s' '${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}'`

/** A PEM block with the mark inside, where a key would be. */
const markedKey = (): string => {
  const lines = Buffer.from(`${mark()}${'x'.repeat(90)}`).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${lines}\n${mark()}\n-----END PRIVATE KEY-----\n`
}

interface Scene {
  readonly name: string
  readonly user: () => KubeconfigUser | Promise<KubeconfigUser>
  readonly extension?: unknown
  readonly proxyUrl?: string
}

const scenes: Scene[] = [
  { name: 'a token the server does not know', user: () => ({ token: mark() }) },
  { name: 'a token file', user: () => ({ tokenFile: file('token', mark()) }) },
  {
    name: 'a token file with two lines',
    user: () => ({ tokenFile: file('bad-token', `${mark()}\n${mark()}`) }),
  },
  { name: 'a password', user: () => ({ username: 'bob', password: `${MARK}-basic` }) },
  { name: 'a wrong password', user: () => ({ username: 'bob', password: mark() }) },
  {
    name: 'a broken key',
    user: async () => ({
      certificate: (await sandbox.issueCertificate({ user: 'x' })).certificate,
      key: markedKey(),
    }),
  },
  {
    name: 'a broken key in a file',
    user: async () => ({
      certificateFile: file('cert', (await sandbox.issueCertificate({ user: 'x' })).certificate),
      keyFile: file('key', markedKey()),
    }),
  },
  {
    name: 'a token and a password together',
    user: () => ({ token: mark(), username: 'x', password: mark() }),
  },
  { name: 'a plugin that works', user: () => exec(answerWith({ token: mark() })) },
  {
    name: 'a plugin that prints garbage',
    user: () => exec(`echo "token: ${mark()} and { ${mark()}"`),
  },
  {
    name: 'a plugin that prints an incomplete answer',
    user: () => exec(`printf '{"status":{"token":"${mark()}"'`),
  },
  { name: 'a plugin with a bad field', user: () => exec(answerWith({ token: [mark()] })) },
  {
    name: 'a plugin with a line break in its token',
    user: () => exec(answerWith({ token: `${mark()}\\n` })),
  },
  {
    name: 'a plugin with a broken key',
    user: () => exec(answerWith({ clientCertificateData: mark(), clientKeyData: mark() })),
  },
  {
    name: 'a plugin with the mark as version, kind and time',
    user: () =>
      exec(
        `printf '{"apiVersion":"${mark()}","kind":"${mark()}","status":{"expirationTimestamp":"${mark()}"}}'`,
      ),
  },
  {
    name: 'a plugin that repeats its arguments and variables on standard error',
    user: () => exec('echo "$@" "$CANARY" >&2; exit 3'),
  },
  {
    name: 'a plugin that prints its environment before it dies',
    user: () => exec('env >&2; kill -9 $$'),
  },
  { name: 'a plugin that is not there', user: () => exec(undefined) },
  { name: 'a plugin that floods', user: () => exec(`while :; do echo '${mark()}'; done`) },
  {
    name: 'a NUL in a variable',
    user: () => ({ exec: { command: '/bin/true', env: { X: `${mark()}\0` } } }),
  },
  {
    name: 'an extension for the plugin',
    user: () =>
      exec('echo "$KUBERNETES_EXEC_INFO" | wc -c >&2; exit 1', { provideClusterInfo: true }),
    extension: { secret: mark(), list: [mark()] },
  },
  {
    name: 'an extension for a plugin that prints its environment and fails',
    user: () => exec('env >&2; exit 1', { provideClusterInfo: true }),
    extension: { audience: mark(), deep: [{ list: [`x "${mark()}" y`] }] },
    proxyUrl: `http://user:${mark()}@127.0.0.1:1`,
  },
  {
    name: 'a password for the proxy',
    user: () => ({ token: mark() }),
    proxyUrl: `http://user:${mark()}@127.0.0.1:1`,
  },
]

/** A kubeconfig with a user entry that the sandbox cannot write. */
function writeRaw(user: unknown): string {
  const cluster = {
    server: sandbox.url,
    'certificate-authority-data': Buffer.from(sandbox.caPem).toString('base64'),
  }
  const content = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  return file(`raw-${next()}`, JSON.stringify(content))
}

const oidc = (more: Record<string, string>) => ({
  'auth-provider': {
    name: 'oidc',
    config: {
      'client-id': 'client',
      'client-secret': mark(),
      'refresh-token': mark(),
      'idp-issuer-url': 'http://127.0.0.1:1/issuer',
      ...more,
    },
  },
})

/** A JSON web token that expires far in the future or long ago, with the mark as its signature. */
const jwt = (exp: number): string => {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ exp })}.${mark()}`
}

const rawUsers: { name: string; user: () => unknown }[] = [
  { name: 'an OIDC user whose issuer is not there', user: () => oidc({ 'id-token': jwt(1) }) },
  {
    name: 'an OIDC user with a good id token',
    user: () => oidc({ 'id-token': jwt(4_000_000_000) }),
  },
  {
    name: 'an OIDC user with garbage',
    user: () => oidc({ 'id-token': mark(), 'idp-certificate-authority-data': mark() }),
  },
  { name: 'an OIDC user without an issuer', user: () => oidc({ 'idp-issuer-url': '' }) },
  {
    name: 'an auth-provider that was removed',
    user: () => ({
      'auth-provider': { name: 'gcp', config: { 'access-token': mark(), 'cmd-args': mark() } },
    }),
  },
  {
    name: 'a number in place of a token, next to a secret',
    user: () => ({ token: 7, password: mark() }),
  },
]

function exec(script: string | undefined, more = {}): KubeconfigUser {
  const command = script === undefined ? 'no-such-plugin' : plugin(`plugin-${next()}`, script)
  const args = ['get-token', '--client-secret', mark(), `--password=${mark()}`, mark()]
  return { exec: { command, args, env: { CANARY: mark(), SECOND: `a ${mark()} b` }, ...more } }
}

const leaks = (heard: readonly Heard[]): string[] =>
  heard
    .filter(({ text }) => text.includes(MARK))
    .map(({ channel, text }) => `${channel}: ${around(text)}`)

function around(text: string): string {
  const at = text.indexOf(MARK)
  return text.slice(Math.max(0, at - 60), at + 60)
}

describe('no secret appears in any output:', () => {
  it.each(scenes)('$name', async ({ user, extension, proxyUrl }) => {
    const kubeconfig = sandbox.writeKubeconfig({
      user: await user(),
      path: join(sandbox.folder, `config-${next()}`),
      ...(extension !== undefined && { extension }),
      ...(proxyUrl !== undefined && { proxyUrl }),
    })
    const library = await listenToLibrary({
      kubeconfig,
      policy: { backoffFirstMs: 1, pluginTimeoutMs: 10_000 },
    })
    const program = await listenToProgram(kubeconfig)
    expect(library.length).toBeGreaterThan(5)
    expect(program.length).toBeGreaterThan(1)
    expect(leaks([...library, ...program])).toEqual([])
  })

  it.each(rawUsers)('$name', async ({ user }) => {
    const kubeconfig = writeRaw(user())
    const heard = [
      ...(await listenToLibrary({ kubeconfig })),
      ...(await listenToProgram(kubeconfig)),
    ]
    expect(leaks(heard)).toEqual([])
  })

  it('in an uncaught error', async () => {
    const kubeconfig = sandbox.writeKubeconfig({ user: exec('echo "$@" >&2; exit 3') })
    const program = `import { connect } from 'kubecred'
      const cluster = await connect({ kubeconfig: process.argv[1] })
      await cluster.fetch('/version')`
    const cwd = new URL('..', import.meta.url)
    const { stderr, stdout, status } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', program, kubeconfig],
      { cwd },
    )
    expect(status).toBe(1)
    expect(stderr.toString()).toContain('PluginExitedError')
    expect(leaks([{ channel: 'a crash', text: stderr.toString() + stdout.toString() }])).toEqual([])
  })
})

describe('the canary itself', () => {
  it('finds a secret in a message, a cause, a property or an event', () => {
    const error = Object.assign(new Error('fine', { cause: new Error(mark()) }), {
      extra: { token: mark() },
    })
    const channels = leaks(writeDown('error', error)).map((leak) => leak.split(':')[0])
    expect(channels).toEqual(
      expect.arrayContaining(['error, inspected', 'error, as JSON', "error's cause's own words"]),
    )
    expect(leaks(writeDown('event', { type: 'warning', message: mark() }))).toHaveLength(3)
    expect(isCredentialError(error)).toBe(false)
  })
})
