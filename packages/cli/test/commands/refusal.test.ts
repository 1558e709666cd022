import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KubeconfigUser, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

const STATUS = { kind: 'Status', status: 'Failure', message: 'Unauthorized', code: 401 }
const SECRET = 'marked-secret-token-0123456789'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox({ anonymous: false })
})
afterEach(() => sandbox.respondWith(undefined))
afterAll(() => sandbox.close())

const fetchAs = (user: KubeconfigUser, ...argv: string[]) =>
  runFake([
    'fetch',
    '/api/v1/namespaces',
    '--kubeconfig',
    sandbox.writeKubeconfig({ user }),
    ...argv,
  ])

const refuseFirst = (count: number): void => {
  let left = count
  sandbox.respondWith(() => {
    left -= 1
    return left < 0 ? undefined : { status: 401, body: STATUS }
  })
}

describe('a 401', () => {
  it('is explained with the source if it cannot be refreshed', async () => {
    const { status, err } = await fetchAs({ token: SECRET })
    expect(status).toBe(1)
    expect(err).toContain('HTTP 401 Unauthorized: Unauthorized')
    expect(err).toContain('It cannot be refreshed: get a new one.')
    expect(err).not.toContain(SECRET)
  })

  it('is explained with the file if it was reloaded', async () => {
    const file = join(sandbox.folder, 'token')
    writeFileSync(file, SECRET)
    const { err } = await fetchAs({ tokenFile: file })
    expect(err).toContain(
      `The server refused the content of token file "${file}", also after reading it again`,
    )
    expect(err).not.toContain(SECRET)
  })

  it('is explained for an anonymous user', async () => {
    expect((await fetchAs({})).err).toContain('No credential was sent')
  })

  it('is explained for a credential given with -H', async () => {
    const { err } = await fetchAs({ token: 'x' }, '-vv', '-H', `Authorization: Bearer ${SECRET}`)
    expect(err).toContain('refused the Authorization header given with -H')
    expect(err).toContain('> authorization: [hidden]')
    expect(err).not.toContain(SECRET)
  })

  it('makes the plugin run again, which -v logs', async () => {
    const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 900_000 })
    refuseFirst(1)
    const { status, err } = await fetchAs({ exec }, '-v')
    expect(status).toBe(0)
    const story = err.split('\n').map((line) => line.replace(/^ {2}\+\d+\.\d{3}s {2}/, ''))
    expect(story.map((line) => line.replace(/\d+\.\d+s/, 'TIME'))).toEqual([
      expect.stringMatching(/^context "sandbox", server https:\/\/127.0.0.1:\d+, exec plugin "/),
      'GET /api/v1/namespaces',
      expect.stringMatching(/^running plugin plugin-\d+\.cjs \(first use\)$/),
      expect.stringMatching(/answered in TIME: token, expires in 15 min$/),
      'the server refused the credential (401)',
      expect.stringMatching(/^running plugin .* \(the server refused the credential\)$/),
      expect.stringMatching(/answered in TIME: token, expires in 15 min$/),
      'retrying the request with the new credential',
      '200 OK after TIME',
      '',
    ])
  })

  it('for the new credential too is explained', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    refuseFirst(9)
    const { status, err } = await fetchAs({ exec })
    expect(status).toBe(1)
    expect(err).toContain('and also the new one after it ran again')
  })

  it('is explained if the plugin returns the same credential again', async () => {
    const stdout = JSON.stringify({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      status: { token: SECRET },
    })
    const exec = await sandbox.plugin({ user: 'jane', stdout })
    const { out, err } = await fetchAs({ exec }, '-vv')
    expect(err).toContain('it returned the same one again. Log in again')
    expect(out + err).not.toContain(SECRET)
  })
})

describe('a plugin that fails', () => {
  it('has its standard error passed on once, and its error explained', async () => {
    const exec = await sandbox.plugin({ user: 'jane', exitCode: 3, stderr: 'please log in' })
    const { status, out, err } = await fetchAs({ exec })
    expect({ status, out }).toEqual({ status: 33, out: '' })
    expect(err).toBe(
      `please log in\nkubecred: credential plugin "${exec.command}" failed with exit code 3\n\n` +
        'Do what the program asks: "please log in".\n' +
        '(ERR_PLUGIN_EXITED; see: kubecred explain ERR_PLUGIN_EXITED)\n',
    )
  })

  it('because it is not installed has a hint how to install it', async () => {
    const exec = { command: 'corp-login-missing', installHint: 'Get it from the intranet.' }
    const { status, err } = await fetchAs({ exec }, '-v')
    expect(status).toBe(30)
    expect(err).toContain('\nGet it from the intranet.\n(ERR_PLUGIN_NOT_FOUND')
  })
})

it('warnings are shown without -v', async () => {
  const { token } = sandbox.issueToken({ user: 'jane' })
  const exec = { command: 'not-used' }
  const kubeconfig = sandbox.writeKubeconfig({ user: { token, exec } })
  const { err } = await runFake(['fetch', '/version', '--kubeconfig', kubeconfig])
  expect(err).toMatch(/^Warning: The exec plugin of user .* is not used/)
})

it('an unexpected error exits with 70, and -v shows its stack', async () => {
  const run = (...argv: string[]) =>
    runFake(['fetch', '/x', '-d', '@-', ...argv], { stdin: new SyntaxError('a mistake') })
  const brief = await run()
  expect(brief.status).toBe(70)
  const title = /^kubecred: internal error [0-9a-f]{8}: SyntaxError: a mistake\n/m
  expect(brief.err).toMatch(new RegExp(`^${title.source}Use -v for the stack trace.\n$`))
  const long = await run('-v')
  expect(long.err).toMatch(title)
  expect(long.err).toContain('    at ')
})
