import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

type Users = Readonly<Record<string, object>>

function write(users: Users, more: object = {}): string {
  const names = Object.keys(users)
  const path = join(sandbox.folder, `status-${Object.keys(users).join('-').slice(0, 40)}.json`)
  const cluster = { server: sandbox.url }
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'here', cluster }],
      users: names.map((name) => ({ name, user: users[name] })),
      contexts: names.map((name) => ({ name, context: { cluster: 'here', user: name } })),
      'current-context': names[0],
      ...more,
    }),
  )
  return path
}

function jwt(exp: number): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode({ alg: 'RS256' })}.${encode({ exp })}.c2ln`
}

const inHours = (hours: number): number => Math.floor(Date.now() / 1000) + hours * 3600

describe('kubecred status', () => {
  it('shows source, state and expiry of every context, and runs no plugin', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const runs = sandbox.pluginRuns
    const kubeconfig = write({
      corp: { exec: { ...exec, env: [], apiVersion: 'client.authentication.k8s.io/v1beta1' } },
      fresh: { token: jwt(inHours(3.2)) },
      gone: { token: jwt(inHours(-3.2)) },
      plain: { token: 'opaque' },
      guest: {},
      broken: { 'auth-provider': { name: 'gcp' } },
    })
    const { out, err, status } = await runFake(['status', '--kubeconfig', kubeconfig])
    expect({ status, err }).toEqual({ status: 0, err: '' })
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(7)
    expect(lines[0]).toMatch(/^ {2}CONTEXT +SOURCE +STATE$/)
    expect(lines[1]).toMatch(/^\* corp +plugin .* +not fetched$/)
    expect(lines[2]).toMatch(/^ {2}fresh +token .* expires in 3 h$/)
    expect(lines[3]).toMatch(/^ {2}gone +token .* expired 3 h ago$/)
    expect(lines[4]).toMatch(/^ {2}plain +token .* no known expiry \(not checked\)$/)
    expect(lines[5]).toMatch(/^ {2}guest .* anonymous: no credential$/)
    expect(lines[6]).toMatch(/^ {2}broken +invalid: /)
    expect(sandbox.pluginRuns).toBe(runs)
  })

  it('runs plugins with --run, and shows the result', async () => {
    const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 3_600_000 })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const { out } = await runFake(['status', '--run', '--kubeconfig', kubeconfig])
    expect(out).toMatch(/expires in \d+ min, fetched 0\.\d+s ago in /)
    const failing = sandbox.writeKubeconfig({ user: { exec: { command: 'no-such-plugin' } } })
    const { out: failed, status } = await runFake(['status', '--run', '--kubeconfig', failing])
    expect(status).toBe(0)
    expect(failed).toMatch(/invalid: credential plugin "no-such-plugin" was not found/)
  })

  it('shows the login that a plugin asks for', async () => {
    const exec = await sandbox.plugin({
      user: 'jane',
      exitCode: 1,
      stderr: 'Run `corp login --sso`.',
    })
    const args = ['status', '--run', '--kubeconfig', sandbox.writeKubeconfig({ user: { exec } })]
    const { out } = await runFake(args)
    expect(out).toMatch(/ needs a login: run corp login --sso$/m)
    const { out: json } = await runFake([...args, '-o', 'json'])
    expect(JSON.parse(json).contexts).toMatchObject([
      { state: 'invalid', loginCommand: 'corp login --sso' },
    ])
  })

  it('prints the same as JSON, without secrets', async () => {
    const kubeconfig = write({ one: { token: jwt(inHours(1)) } })
    const { out } = await runFake(['status', '-o', 'json', '--kubeconfig', kubeconfig])
    expect(JSON.parse(out)).toEqual({
      contexts: [
        {
          context: 'one',
          isCurrent: true,
          server: sandbox.url,
          source: { kind: 'static', name: 'token' },
          state: 'valid',
          expiresAt: expect.any(Number),
        },
      ],
    })
  })

  it('shows changes with --watch until it is interrupted', async () => {
    const kubeconfig = write({ moving: { token: jwt(inHours(5)) } })
    const ending = new AbortController()
    const watching = runFake(['status', '--watch', '--kubeconfig', kubeconfig], {
      signal: ending.signal,
    })
    setTimeout(() => write({ moving: { token: jwt(inHours(-5)) } }), 300)
    setTimeout(() => ending.abort(Object.assign(new Error('enough'), { exitStatus: 130 })), 2500)
    const { out } = await watching
    expect(out).toMatch(/expires in [45] h[\s\S]*expired [45] h ago/)
  })

  it('reports that there are no contexts', async () => {
    const { out, status } = await runFake(['status'])
    expect({ out, status }).toEqual({
      out: 'The kubeconfig has no contexts.\n',
      status: 0,
    })
  })
})
