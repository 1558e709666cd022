import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Sandbox, type SandboxOptions, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { type Http2Client, openHttp2 } from 'kubecred/http2'
import { afterEach, describe, expect, it } from 'vitest'
import { startConnectProxy } from '../../fixtures/proxies.ts'

let sandbox: Sandbox
let cluster: Cluster
let client: Http2Client

async function start(options: ConnectOptions = {}, how: SandboxOptions = {}): Promise<void> {
  sandbox = await startSandbox(how)
  const exec = await sandbox.plugin({ user: 'jane', groups: ['system:masters'] })
  cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }), ...options })
  client = openHttp2(cluster)
}

afterEach(async () => {
  await cluster.close()
  await sandbox.close()
})

const NAMESPACES = '/api/v1/namespaces'
const manifest = (name: string) => JSON.stringify({ metadata: { name } })
const post = { ':method': 'POST', ':path': NAMESPACES, 'content-type': 'application/json' }

describe('a request of kubecred/http2', () => {
  it('carries the credential over HTTP/2', async () => {
    await start()
    const { status, headers, stream } = await client.request({ ':path': '/version' })
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('application/json')
    expect(JSON.parse(await text(stream))).toMatchObject({ major: '1' })
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'jane', httpVersion: '2.0' })
  })

  it.each([
    ['text', manifest],
    ['bytes', (name: string) => new TextEncoder().encode(manifest(name))],
    ['a stream', (name: string) => Readable.from([Buffer.from(manifest(name))])],
  ])('sends %s, and again after a 401', async (what, make) => {
    await start()
    await client.request({ ':path': '/version' })
    sandbox.revoke('jane')
    const name = what.replace(' ', '-')
    const { status, stream } = await client.request(post, { body: make(name) })
    expect([status, JSON.parse(await text(stream)).metadata.name]).toEqual([201, name])
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('that is refused together with many others needs few connections and one plugin run', async () => {
    await start()
    await client.request({ ':path': '/version' })
    const { opened } = sandbox.connections
    sandbox.revoke('jane')
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => client.request({ ':path': NAMESPACES })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(sandbox.pluginRuns).toBe(2)
    // The server closes a connection after a 401, so the other requests are not refused one by one.
    expect(sandbox.connections.opened - opened).toBeLessThan(10)
  })

  it('with its own authorization has no credential of ours', async () => {
    await start()
    const { token } = sandbox.issueToken({ user: 'someone' })
    const own = { ':path': '/version', Authorization: `Bearer ${token}` }
    expect((await client.request(own)).status).toBe(200)
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'someone' })
    sandbox.revoke(token)
    expect((await client.request(own)).status).toBe(401)
    expect(sandbox.pluginRuns).toBe(0)
  })

  it('sends arrays as repeated headers', async () => {
    await start()
    const headers = { 'Impersonate-User': 'bob', 'Impersonate-Group': ['one', 'two'] }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const { stream } = await client.request(
      { ...post, ':path': '/apis/authentication.k8s.io/v1/selfsubjectreviews', ...headers },
      { body: JSON.stringify(review) },
    )
    const { groups } = JSON.parse(await text(stream)).status.userInfo
    expect(groups).toEqual(expect.arrayContaining(['one', 'two']))
  })

  it('is appended to the path of the server', async () => {
    await start()
    const { token } = sandbox.issueToken({ user: 'jane' })
    await using below = await connect({ server: `${sandbox.url}/below`, token, ...trusting() })
    await openHttp2(below).request({ ':path': '/version?x=1' })
    expect(sandbox.requests.at(-1)?.path).toContain('/below/version')
  })

  const trusting = () => ({ insecureSkipTlsVerify: true })

  it.each([
    { ':authority': 'evil.example' },
    { ':authority': '127.0.0.1:1' },
    { ':scheme': 'http' },
    { host: 'evil.example' },
    { HOST: 'evil.example' },
    { ':path': '//evil.example/' },
    { ':path': '/\\evil.example/' },
    { ':path': 'https://evil.example/' },
    { ':authority': 'evil.example@' },
  ])('for another server is not sent: %o', async (headers) => {
    await start()
    const sent = client.request({ ':path': '/version', ...headers })
    await expect(sent).rejects.toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
    expect([sandbox.requests.length, sandbox.connections.opened, sandbox.pluginRuns]).toEqual([
      0, 0, 0,
    ])
  })

  it.each([
    ['a name with a space', { 'x y': 'secret' }, '"x y"'],
    ['a name with a line break', { 'x\r\ny': 'secret' }, '"x\\r\\ny"'],
    ['a name with a tab', { 'x\ty': 'secret' }, '"x\\ty"'],
    ['a name with a colon', { 'x:y': 'secret' }, '"x:y"'],
    ['a name that is not ASCII', { é: 'secret' }, '"é"'],
    ['a name that is ASCII in lower case only', { '\u212a': 'secret' }, '"\u212a"'],
    ['an empty name', { '': 'secret' }, '""'],
    ['an unknown name with a colon', { ':status': 'secret' }, '":status"'],
    ['a value with a line break', { 'x-a': 'secret\r\nx-b: 1' }, '"x-a"'],
    ['a list with such a value', { 'x-a': ['fine', 'secret\n'] }, '"x-a"'],
    ['a number as a value', { 'x-a': 5 }, '"x-a"'],
    ['a list as a method', { ':method': ['GET'] }, ':method'],
    ['a method with a space', { ':method': 'GET secret' }, ':method'],
    ['no method', { ':method': '' }, ':method'],
    ['CONNECT', { ':method': 'CONNECT' }, ':method'],
    ['a path alone', '/secret', "client.request({ ':path': '/api' })"],
    ['nothing', undefined, "client.request({ ':path': '/api' })"],
  ])('with %s is not sent, and does not affect others', async (_, headers, named) => {
    await start()
    const { stream: watch } = await client.request({ ':path': `${NAMESPACES}?watch=true` })
    const before = sandbox.requests.length
    const failure = await client.request(headers as never).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TypeError)
    expect((failure as Error).message).toContain(named)
    expect((failure as Error).message).not.toContain('secret')
    expect(sandbox.requests).toHaveLength(before)
    expect((await client.request({ ':path': '/version' })).status).toBe(200)
    expect([watch.destroyed, sandbox.connections.opened]).toEqual([false, 1])
  })

  it('may name its own server', async () => {
    await start()
    const { host } = new URL(sandbox.url)
    const own = { ':scheme': 'https', ':authority': host, host, ':path': '/version' }
    expect((await client.request(own)).status).toBe(200)
  })

  it('returns a redirect to another origin, and does not follow it', async () => {
    await start()
    await using elsewhere = await startSandbox()
    const location = `${elsewhere.url}/version`
    sandbox.respondWith(() => ({ status: 302, headers: { location } }))
    const { status, headers } = await client.request({ ':path': '/version' })
    expect([status, headers['location']]).toEqual([302, location])
    expect(elsewhere.connections.opened).toBe(0)
  })

  it('goes through the proxy', async () => {
    await start()
    await using proxy = await startConnectProxy({ to: Number(new URL(sandbox.url).port) })
    const { token } = sandbox.issueToken({ user: 'jane' })
    const server = 'https://kubernetes.default.svc:6443'
    const proxyUrl = `http://127.0.0.1:${proxy.port}`
    await using behind = await connect({ server, token, proxyUrl, ...trusting(), env: {} })
    expect((await openHttp2(behind).request({ ':path': '/version' })).status).toBe(200)
    expect(proxy.asked).toEqual(['CONNECT kubernetes.default.svc:6443'])
    expect(sandbox.requests.at(-1)).toMatchObject({ httpVersion: '2.0', user: 'jane' })
  })

  it('to a server without HTTP/2 fails with a clear error', async () => {
    await start({}, { http2: false })
    await expect(client.request({ ':path': '/version' })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      message: expect.stringContaining(`${sandbox.url} does not support HTTP/2`),
    })
  })
})

describe('close()', () => {
  it('lets requests in flight finish, and accepts no more', async () => {
    await start()
    const leaving = new AbortController()
    const path = '/api/v1/namespaces?watch=true'
    const { stream } = await client.request({ ':path': path }, { signal: leaving.signal })
    let isClosed = false
    const closed = client.close().then(() => {
      isClosed = true
    })
    const late = client.request({ ':path': '/version' })
    await expect(late).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    // The stream still delivers.
    const event = new Promise((resolve) => stream.once('data', resolve))
    await cluster.fetch(NAMESPACES, {
      method: 'POST',
      body: manifest('made'),
      headers: { 'content-type': 'application/json' },
    })
    expect(String(await event)).toContain('ADDED')
    expect(isClosed).toBe(false)
    leaving.abort()
    await closed
    expect((await cluster.fetch('/version')).status).toBe(200)
  })

  it.each([
    ['a response', 200, (_: Readable) => {}],
    ['a refusal', 401, (_: Readable) => {}],
    ['a large response that is destroyed', 200, (stream: Readable) => void stream.destroy()],
  ])('does not wait until the caller reads %s', async (what, status, leave) => {
    await start()
    const body = what.includes('large') ? 'x'.repeat(5_000_000) : 'short'
    sandbox.respondWith(() => ({ status, body }))
    const response = await client.request({ ':path': '/version' })
    expect(response.status).toBe(status)
    leave(response.stream)
    await client.close()
    // The body can still be read.
    if (body === 'short') expect(await text(response.stream)).toBe(body)
  })

  it('waits for a response that is still arriving', async () => {
    await start()
    const { stream } = await client.request({ ':path': `${NAMESPACES}?watch=true` })
    const ends: string[] = []
    const closed = client.close().then(() => ends.push('closed'))
    await cluster.fetch('/version')
    ends.push('destroyed')
    stream.destroy()
    await closed
    expect(ends).toEqual(['destroyed', 'closed'])
  })

  it('of the cluster ends all requests at once', async () => {
    await start()
    const { stream } = await client.request({ ':path': '/api/v1/namespaces?watch=true' })
    const read = text(stream)
    await cluster.close()
    await expect(read).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await client.close()
    await expect.poll(() => sandbox.connections.open).toBe(0)
  })
})
