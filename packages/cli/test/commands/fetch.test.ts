import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type FakeOptions, runFake } from '../run-fake.ts'

let sandbox: Sandbox
let kubeconfig: string

beforeAll(async () => {
  sandbox = await startSandbox({
    forbid: (_user, _method, path) => path.includes('forbidden'),
    onProxyRequest: () => ({ status: 401, body: 'not the API server' }),
  })
  const { token } = sandbox.issueToken({ user: 'jane' })
  kubeconfig = sandbox.writeKubeconfig({ user: { token } })
})
afterEach(() => sandbox.respondWith(undefined))
afterAll(() => sandbox.close())

const fetch = (argv: readonly string[], options: FakeOptions = {}) =>
  runFake(['fetch', '--kubeconfig', kubeconfig, ...argv], options)

describe('kubecred fetch', () => {
  it('prints the response to standard output and nothing to standard error', async () => {
    const { status, out, err } = await fetch(['/version'])
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(JSON.parse(out)).toHaveProperty('gitVersion')
  })

  it('prints bytes unchanged', async () => {
    const body = Buffer.from([0, 255, 10, 13, 128, 7])
    sandbox.respondWith(() => ({ status: 200, body }))
    expect((await fetch(['/logs'])).bytes).toEqual(body)
  })

  it('prints the body of an error response, explains it, and exits with 1', async () => {
    const { status, out, err } = await fetch(['/api/v1/namespaces/forbidden'])
    expect(status).toBe(1)
    const body = JSON.parse(out)
    expect(err).toBe(`HTTP 403 Forbidden: ${body.message}\n`)
  })

  it('keeps control characters of a server away from the terminal', async () => {
    const body = { kind: 'Status', message: 'no\u001b[2J\nway' }
    sandbox.respondWith(() => ({ status: 400, body }))
    const { err } = await fetch(['/x'])
    expect(err).toBe('HTTP 400 Bad Request: noU+001B[2J way\n')
  })

  it.each([
    [['-d', '{"metadata":{"name":"a"}}'], 'POST', 'application/json'],
    [['-d', 'plain'], 'POST', undefined],
    [['-d', '{}', '-X', 'PATCH'], 'PATCH', 'application/merge-patch+json'],
    [['-d', '[]', '-X', 'patch'], 'PATCH', 'application/json-patch+json'],
    [['-d', '{}', '-H', 'Content-Type: text/x', '-X', 'PUT'], 'PUT', 'text/x'],
    [['-d', '@-'], 'POST', 'application/json'],
  ])('with %j sends %s as %s', async (argv, method, type) => {
    const seen: unknown[] = []
    sandbox.respondWith((facts) => {
      seen.push([facts.method, facts.headers['content-type']])
      return { status: 200, body: {} }
    })
    const { status, err } = await fetch(['/x', ...argv], { stdin: '{"from":"stdin"}' })
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(seen).toEqual([[method, type]])
  })

  it('reads the body from a file', async () => {
    const file = join(sandbox.folder, 'namespace.json')
    writeFileSync(file, '{"metadata":{"name":"from-file"}}')
    expect((await fetch(['/api/v1/namespaces', '-d', `@${file}`])).status).toBe(0)
    expect((await fetch(['/api/v1/namespaces/from-file'])).status).toBe(0)
  })

  it.each([
    [['api/v1/pods'], 'did you mean /api/v1/pods?'],
    [['https://elsewhere/api?x=1'], 'did you mean /api?x=1?'],
    [
      ['/x', '-d', '@/nonexistent/file'],
      'cannot read "/nonexistent/file" for -d: it does not exist',
    ],
    [['/x', '-d', 'a', '-d', 'b'], 'flag -d may be given once'],
    [['/x', '-X', 'GET', '-d', 'a'], 'a GET request cannot have a body'],
    [['/x', '-X', 'CONNECT'], 'flag -X cannot be "CONNECT"'],
    [['/x', '-X', 'A B'], 'flag -X cannot be "A B"'],
    [['/x', '-H', 'nonsense'], 'flag -H takes \'Name: value\', not "nonsense"'],
    [['/x', '-H', 'A: b\r\nC: d'], 'the value of header A has characters that HTTP cannot carry'],
  ])('rejects %j before anything is sent', async (argv, reason) => {
    const before = sandbox.requests.length
    const { status, err } = await fetch(argv)
    expect(status).toBe(2)
    expect(err).toContain(reason)
    expect(sandbox.requests).toHaveLength(before)
  })

  it('never sends a credential to another host', async () => {
    const { status, err } = await fetch(['//elsewhere/x'])
    expect(status).toBe(64)
    expect(err).toContain('ERR_FOREIGN_ORIGIN')
  })

  it('does not follow a redirect, and says so', async () => {
    sandbox.respondWith(() => ({ status: 302, headers: { Location: 'https://elsewhere/' } }))
    const { status, err } = await fetch(['/x'])
    expect(status).toBe(0)
    expect(err).toBe('HTTP 302 Found: redirect to https://elsewhere/ was not followed\n')
  })

  it('prints status and headers with -i', async () => {
    const { out } = await fetch(['/version', '-i'])
    expect(out).toMatch(
      /^HTTP\/1.1 200 OK\r\n[\s\S]*content-type: application\/json\r\n[\s\S]*\r\n\r\n\{/,
    )
  })

  it('indents JSON on a terminal, with colours unless NO_COLOR is set', async () => {
    const plain = await fetch(['/version'], { terminal: true, env: { NO_COLOR: '1' } })
    expect(plain.out).toMatch(/^\{\n {2}"major": "1",\n/)
    const coloured = await fetch(['/version'], { terminal: true })
    expect(coloured.out).toContain('\u001b[34m"major"\u001b[39m')
    const raw = await fetch(['/version', '--raw'], { terminal: true })
    expect(raw.out).toMatch(/^\{"major"/)
  })

  it('exits with 65 when a time limit has passed', async () => {
    sandbox.respondWith(() => new Promise(() => {}))
    for (const flag of ['--timeout', '--request-timeout']) {
      const { status, err } = await fetch(['/x', `${flag}=20ms`])
      expect(status).toBe(65)
      expect(err).toContain(`took longer than ${flag}=20ms allows`)
    }
  })

  it('has no limit if the limit is 0 or exceeds the maximum of a timer', async () => {
    for (const limit of ['0', '9999h']) {
      expect((await fetch(['/version', '--timeout', limit])).status).toBe(0)
    }
  })

  it('takes impersonation from the flags', async () => {
    const headers: unknown[] = []
    sandbox.respondWith((facts) => {
      headers.push(facts.headers)
      return { status: 200, body: {} }
    })
    const flags = ['--as=bob', '--as-group=a', '--as-group=b', '--as-user-extra=k=v', '--as-uid=7']
    await fetch(['/x', ...flags])
    expect(headers).toMatchObject([
      { 'impersonate-user': 'bob', 'impersonate-uid': '7', 'impersonate-extra-k': 'v' },
    ])
  })

  it('explains a 401 from behind the API server', async () => {
    const { status, err } = await fetch(['/api/v1/namespaces/default/pods/web/proxy/'])
    expect(status).toBe(1)
    expect(err).toContain('came from a service behind the API server')
  })
})
