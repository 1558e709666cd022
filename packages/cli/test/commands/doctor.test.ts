import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Outcome, runFake } from '../run-fake.ts'

let sandbox: Sandbox
let other: Sandbox
let deadPort: number

beforeAll(async () => {
  sandbox = await startSandbox()
  other = await startSandbox()
  deadPort = await freePort()
})
afterAll(async () => {
  await sandbox.close()
  await other.close()
})

/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

function script(name: string, text: string, mode = 0o755): string {
  const path = join(sandbox.folder, name)
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, mode)
  return path
}

/** Replaces what differs between runs. */
function settled(text: string): string {
  return text
    .replaceAll(sandbox.folder, '/SANDBOX')
    .replaceAll(/kubeconfig-[0-9a-f]+\.json/g, 'kubeconfig')
    .replaceAll(/plugin-\d+/g, 'plugin')
    .replaceAll(/(127\.0\.0\.1(?::| port ))\d+/g, '$1PORT')
    .replaceAll(/after \d+(?:\.\d+)? m?s/g, 'after TIME')
    .replaceAll(/ \(\d+(?:\.\d+)? ?s\)/g, '')
    .replaceAll(/[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT/g, 'DATE')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE')
    .replaceAll(/valid for \d+ (?:days|h|min)/g, 'valid for TIME')
    .replaceAll(/expired \d+ (?:days?|h|min|s) ago/g, 'expired TIME ago')
}

type Env = Readonly<Record<string, string>>

/** An environment without the variables of this machine that would change the report. */
const PLAIN: Env = { PATH: '/usr/bin:/bin', HTTPS_PROXY: '', HTTP_PROXY: '', NO_PROXY: '' }

function doctor(args: readonly string[], env: Env = {}): Promise<Outcome> {
  return runFake(['doctor', ...args], { env: { ...PLAIN, ...env } })
}

interface SetUp {
  readonly name: string
  readonly status: number
  readonly args: () => Promise<readonly string[]> | readonly string[]
  readonly env?: () => Env
}

const withUser = (user: object, more: readonly string[] = []): readonly string[] => [
  '--kubeconfig',
  sandbox.writeKubeconfig({ user } as Parameters<Sandbox['writeKubeconfig']>[0]),
  ...more,
]

async function goodPlugin(more: readonly string[] = []): Promise<readonly string[]> {
  const exec = await sandbox.plugin({ user: 'jane', groups: ['dev'], lifetimeMs: 3_600_000 })
  return withUser({ exec }, more)
}

function jwt(claims: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode({ alg: 'RS256' })}.${encode(claims)}.c2lnbmF0dXJl`
}

const SETUPS: readonly SetUp[] = [
  { name: 'no step fails', status: 0, args: () => goodPlugin() },
  {
    name: 'the kubeconfig does not exist',
    status: 10,
    args: () => ['--kubeconfig', '/nonexistent/kubeconfig'],
  },
  {
    name: 'the kubeconfig is broken',
    status: 12,
    args: () => {
      const path = join(sandbox.folder, 'broken.yaml')
      writeFileSync(path, 'apiVersion: v1\nclusters: [\n')
      return ['--kubeconfig', path]
    },
  },
  { name: 'there is no kubeconfig at all', status: 14, args: () => [] },
  {
    name: 'the context does not exist',
    status: 15,
    args: () => goodPlugin(['--context', 'prod']),
  },
  {
    name: 'the plugin is missing',
    status: 30,
    args: () =>
      withUser({ exec: { command: 'kubelogin', installHint: 'Run: brew install kubelogin' } }),
  },
  {
    name: 'the plugin is not executable',
    status: 31,
    args: () => withUser({ exec: { command: script('flat.sh', 'true', 0o644) } }),
  },
  {
    name: 'the plugin fails',
    status: 33,
    args: () =>
      withUser({
        exec: { command: script('fails.sh', 'echo "session expired, run corp login" >&2; exit 3') },
      }),
  },
  {
    name: 'the plugin prints no credential',
    status: 38,
    args: () => withUser({ exec: { command: script('chats.sh', 'echo "Opening your browser"') } }),
  },
  {
    name: 'the policy forbids the plugin',
    status: 50,
    args: async () => {
      const kuberc = join(sandbox.folder, 'kuberc')
      writeFileSync(
        kuberc,
        'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\ncredentialPluginPolicy: DenyAll\n',
        { mode: 0o600 },
      )
      return goodPlugin(['--kuberc', kuberc])
    },
  },
  {
    name: 'the login has expired',
    status: 1,
    args: () =>
      withUser({ token: jwt({ iss: 'https://login.corp.test', exp: 1_600_000_000, sub: 'jane' }) }),
  },
  {
    name: 'the token is for another cluster',
    status: 1,
    args: () => withUser({ token: other.issueToken({ user: 'jane' }).token }),
  },
  {
    name: 'the CA does not match',
    status: 61,
    args: async () => {
      const ca = join(sandbox.folder, 'other-ca.crt')
      writeFileSync(ca, other.caPem)
      return goodPlugin(['--certificate-authority', ca])
    },
  },
  {
    name: 'the server name does not match',
    status: 61,
    args: () => goodPlugin(['--tls-server-name', 'api.corp.test']),
  },
  {
    name: 'the server is down',
    status: 60,
    args: () => goodPlugin(['--server', `https://127.0.0.1:${deadPort}`]),
  },
  {
    name: 'the proxy is down',
    status: 60,
    args: () => goodPlugin(['--proxy-url', `http://127.0.0.1:${deadPort}`]),
  },
  { name: 'the user is anonymous', status: 1, args: () => withUser({}) },
  {
    name: 'the certificate of the server is not checked',
    status: 0,
    args: () => goodPlugin(['--insecure-skip-tls-verify']),
  },
]

describe('kubecred doctor, if', () => {
  it.each(SETUPS)('$name', async ({ name, status, args, env }) => {
    const { out, err, status: given } = await doctor(await args(), env?.())
    await expect(settled(out + err)).toMatchFileSnapshot(`doctor/${name.replaceAll(' ', '-')}.txt`)
    expect(given).toBe(status)
  })
})

describe('kubecred doctor', () => {
  it('prints the same as one JSON object', async () => {
    const { out, status } = await doctor([...(await goodPlugin()), '-o', 'json'])
    const { isHealthy, findings } = JSON.parse(out)
    expect({ status, isHealthy }).toEqual({ status: 0, isHealthy: true })
    expect(findings.map(({ step }: { step: string }) => step)).toEqual([
      'kubeconfig',
      'context',
      'method',
      'policy',
      'plugin',
      'credential',
      'proxy',
      'network',
      'tls',
      'identity',
    ])
  })

  it('fits into a narrow terminal, and has colours there', async () => {
    const argv = ['doctor', ...(await goodPlugin(['--context', 'a-context-that-is-not-there']))]
    const env = { ...PLAIN, TERM: 'xterm' }
    const { out } = await runFake(argv, { env, terminal: true, columns: 50 })
    const plain = stripVTControlCharacters(out)
    expect(plain).not.toBe(out)
    const prose = plain.split('\n').filter((line) => !line.includes(sandbox.folder))
    expect(Math.max(...prose.slice(0, -3).map((line) => line.length))).toBeLessThanOrEqual(50)
    const { out: grey } = await runFake(argv, {
      env: { ...env, NO_COLOR: '1' },
      terminal: true,
      columns: 50,
    })
    // A slow step shows its duration, which can move words to the next line; one of the two may have been slow.
    const timeless = (text: string): string =>
      text.replaceAll(/\s\([\d.]+ ?m?s\)/g, '').replaceAll(/\s+/g, ' ')
    expect(timeless(grey)).toBe(timeless(plain))
  })

  it('runs the plugin once, and sends one request', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const before = sandbox.requests.length
    const runs = sandbox.pluginRuns
    await doctor(withUser({ exec }))
    expect(sandbox.requests.length - before).toBe(1)
    expect(sandbox.pluginRuns - runs).toBe(1)
  })

  it('does not read a review without end', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const review = { status: { userInfo: { username: 'jane' } } }
    const whole = (pad: string): object => ({ pad, ...review })
    for (const [pad, summary] of [
      ['x', 'jane'],
      ['x'.repeat(2 ** 21), 'not a SelfSubjectReview'],
    ] as const) {
      sandbox.respondWith(() => ({ status: 200, body: whole(pad) }))
      const { out } = await doctor(withUser({ token }))
      sandbox.respondWith(undefined)
      expect(out.replaceAll(/\s+/g, ' ')).toContain(summary)
    }
  })

  it('shows no secrets, whatever fails', async () => {
    const secret = 'hunter2-is-no-password'
    const exec = {
      command: script('leaks.sh', `echo "token ${secret} is bad" >&2; exit 1`),
      env: { CORP_SECRET: secret },
      args: [`--client-secret=${secret}`],
    }
    for (const more of [[], ['-o', 'json'], ['-v']]) {
      const { out, err } = await doctor(withUser({ exec }, more))
      expect(out + err).not.toContain(secret)
    }
  })
})
