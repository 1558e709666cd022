import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

describe('kubecred whoami', () => {
  it('shows the user that the server sees, and the plugin', async () => {
    const exec = await sandbox.plugin({ user: 'jane', groups: ['dev', 'ops'] })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const { status, out, err } = await runFake(['whoami', '--kubeconfig', kubeconfig])
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(out).toBe(
      [
        'user:     jane',
        'groups:   dev',
        '          ops',
        '          system:authenticated',
        `through:  exec plugin "${exec.command}"`,
        'context:  sandbox',
        `server:   ${sandbox.url}`,
        '',
      ].join('\n'),
    )
  })

  it('prints one JSON object with -o json', async () => {
    const { token } = sandbox.issueToken({ user: 'bob', uid: '7' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const { out } = await runFake(['whoami', '--kubeconfig', kubeconfig, '-o', 'json'])
    expect(JSON.parse(out)).toEqual({
      username: 'bob',
      uid: '7',
      groups: ['system:authenticated'],
      through: { kind: 'static', name: 'token' },
      context: 'sandbox',
      cluster: 'sandbox',
      server: sandbox.url,
    })
  })

  it('names the required version if the server is too old', async () => {
    const { token } = sandbox.issueToken({ user: 'bob' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    sandbox.respondWith(() => ({ status: 404, body: '404 page not found' }))
    const { status, out, err } = await runFake(['whoami', '--kubeconfig', kubeconfig])
    sandbox.respondWith(undefined)
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toContain('whoami needs Kubernetes 1.28 or later')
  })

  it.each([
    ['JSON without a user', { kind: 'SelfSubjectReview', status: {} }],
    ['a user without a name', { status: { userInfo: { groups: ['a'] } } }],
    ['names of other types', { status: { userInfo: { username: 7, groups: 'a' } } }],
    ['a uid of another type', { status: { userInfo: { username: 'a', uid: 7 } } }],
    ['a review of 2 MiB', { pad: 'x'.repeat(2 ** 21), status: { userInfo: { username: 'a' } } }],
    ['null', 'null'],
    ['text', '<html>hello</html>'],
  ])('exits with a code if the server responds 200 with %s', async (_, body) => {
    const { token } = sandbox.issueToken({ user: 'bob' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    sandbox.respondWith(() => ({ status: 200, body }))
    const { status, out, err } = await runFake(['whoami', '--kubeconfig', kubeconfig])
    sandbox.respondWith(undefined)
    expect({ status, out }).toEqual({ status: 72, out: '' })
    expect(err).toContain(`${sandbox.url} did not return a SelfSubjectReview`)
    expect(err).toContain('ERR_SERVER_RESPONSE_INVALID')
    expect(err).not.toContain('hello')
  })

  it('escapes control characters in a name', async () => {
    const { token } = sandbox.issueToken({ user: 'eve\u001b[2J' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const { out } = await runFake(['whoami', '--kubeconfig', kubeconfig])
    expect(out).toMatch(/^user: {5}eveU\+001B\[2J\n/)
  })

  it('escapes control characters in JSON output', async () => {
    const user = 'eve\u009b2J\u202e\u007f\u{e0001}'
    const { token } = sandbox.issueToken({ user })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    for (const command of ['whoami', 'doctor']) {
      const { out } = await runFake([command, '--kubeconfig', kubeconfig, '-o', 'json'])
      expect(out).not.toMatch(/[^\n\P{C}]/u)
      expect(JSON.parse(out)).toBeTypeOf('object')
      if (command === 'whoami') expect(JSON.parse(out)).toMatchObject({ username: user })
    }
  })

  it('escapes control characters from a plugin', async () => {
    const command = join(sandbox.folder, 'escapes.sh')
    const line = 'one\\033[2J\\302\\2332J\\rtwo\\r\\n\\342\\200\\256three\\tfour\\n'
    writeFileSync(command, `#!/bin/sh\nprintf '${line}' >&2\nexit 1\n`)
    chmodSync(command, 0o700)
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command } } })
    const { err } = await runFake(['whoami', '--kubeconfig', kubeconfig])
    expect(err).toMatch(/^oneU\+001B\[2JU\+009B2J\ntwo\nU\+202Ethree\tfour\n/)
  })

  it('names a context that does not exist, and lists the existing ones', async () => {
    const kubeconfig = sandbox.writeKubeconfig()
    const argv = ['whoami', '--kubeconfig', kubeconfig, '--context', 'prod']
    const { status, err } = await runFake(argv)
    expect(status).toBe(15)
    expect(err).toContain('Use one of these contexts: "sandbox".')
  })
})
