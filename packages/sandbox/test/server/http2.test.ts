import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { connect } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { connectH2, type H2 } from '../h2-client.ts'

const configmaps = '/api/v1/namespaces/default/configmaps'
const review = {
  method: 'POST',
  json: { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' },
}
const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

let sandbox: Sandbox
let token: string
let h2: H2
beforeEach(async () => {
  sandbox = await startSandbox()
  token = sandbox.issueToken({ user: 'jane' }).token
  h2 = connectH2(sandbox)
})
afterEach(async () => {
  h2.session.destroy()
  await sandbox.close()
})

describe('the protocol', () => {
  const negotiate = async (server: Sandbox, offered: string[]): Promise<string | false | null> => {
    const port = Number(new URL(server.url).port)
    const socket = connect({ host: '127.0.0.1', port, ca: server.caPem, ALPNProtocols: offered })
    await once(socket, 'secureConnect')
    socket.destroy()
    return socket.alpnProtocol
  }

  it.each([
    { offered: ['h2', 'http/1.1'], chosen: 'h2' },
    { offered: ['http/1.1', 'h2'], chosen: 'h2' },
    { offered: ['http/1.1'], chosen: 'http/1.1' },
    { offered: [], chosen: false },
  ])('of a client that offers $offered is $chosen', async ({ offered, chosen }) => {
    expect(await negotiate(sandbox, offered)).toBe(chosen)
  })

  it('is HTTP/1.1 if the option says so', async () => {
    await using old = await startSandbox({ http2: false })
    expect(await negotiate(old, ['h2', 'http/1.1'])).toBe('http/1.1')
  })
})

describe('over HTTP/2', () => {
  it('objects are written, listed, compressed, watched and deleted on one connection', async () => {
    const json = { metadata: { name: 'one' }, data: { text: 'x'.repeat(200_000) } }
    expect((await h2.call(configmaps, { method: 'POST', token, json })).status).toBe(201)
    const listed = await h2.call(configmaps, { token, headers: { 'accept-encoding': 'gzip' } })
    expect(JSON.parse(gunzipSync(listed.bytes).toString()).items).toHaveLength(1)
    const { stream } = await h2.open(`${configmaps}?watch=1&resourceVersion=4`, { token })
    const deleted = once(createInterface(stream), 'line')
    await h2.call(`${configmaps}/one`, { method: 'DELETE', token })
    expect(JSON.parse((await deleted)[0])).toMatchObject({ type: 'DELETED' })
    expect(sandbox.connections).toEqual({ opened: 1, open: 1 })
    const numbers = sandbox.requests.map(({ connection }) => connection)
    expect(numbers).toEqual([1, 1, 1, 1])
  })

  it('the headers of a watch arrive before its first event, and it ends with the connection', async () => {
    const { status, stream } = await h2.open(`${configmaps}?watch=1&resourceVersion=3`, { token })
    expect(status).toBe(200)
    const ended = once(stream, 'close')
    sandbox.dropConnections()
    await ended
  })

  it('HEAD has headers and no body', async () => {
    const { status, headers, text } = await h2.call('/version', { method: 'HEAD', token })
    expect(status).toBe(200)
    expect(Number(headers['content-length'])).toBeGreaterThan(0)
    expect(text).toBe('')
  })

  it('a body over the limit is answered with 413, and neither its stream nor its connection hangs', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, ' ')
    const { status, stream } = await h2.open(configmaps, { method: 'POST', token, body })
    expect(status).toBe(413)
    const ended = once(stream.resume(), 'close')
    const json = { metadata: { name: 'large' }, data: { text: 'x'.repeat(200_000) } }
    expect((await h2.call(configmaps, { method: 'POST', token, json })).status).toBe(201)
    await ended
  })

  it('the client certificate of the connection is authenticated', async () => {
    const { certificate, key } = await sandbox.issueCertificate({ user: 'max', groups: ['a', 'b'] })
    await using secured = connectH2(sandbox, { cert: certificate, key })
    expect((await secured.call(reviews, review)).json.status.userInfo).toEqual({
      username: 'max',
      groups: ['a', 'b', 'system:authenticated'],
    })
    expect(sandbox.requests.at(-1)).toMatchObject({ certificateUser: 'max', httpVersion: '2.0' })
  })

  it('all impersonated groups are used', async () => {
    const master = sandbox.issueToken({ user: 'root', groups: ['system:masters'] }).token
    const headers = { 'impersonate-user': 'kim', 'impersonate-group': ['a', 'b'] }
    const { json } = await h2.call(reviews, { ...review, token: master, headers })
    expect(json.status.userInfo.groups).toEqual(['a', 'b', 'system:authenticated'])
  })

  it('a hook sees the headers that HTTP/1.1 would have', async () => {
    sandbox.respondWith(({ headers }) => ({ status: 200, body: headers }))
    const { json } = await h2.call('/livez', { headers: { 'x-test': 'yes' } })
    expect(json).toEqual({ host: new URL(sandbox.url).host, 'x-test': 'yes' })
  })
})

describe('the connection after a failed authentication', () => {
  it.each([
    { who: 'a bad token', sent: { token: 'made-up' }, status: 401 },
    { who: 'no credential', sent: {}, status: 200 },
  ])('is closed after the response, with $who', async ({ sent, status }) => {
    const { stream } = await h2.open(`${configmaps}?watch=1`, { token })
    const leaving = once(h2.session, 'goaway')
    expect((await h2.call('/livez', sent)).status).toBe(status)
    const [code] = await leaving
    expect(code).toBe(0)
    // Open streams continue.
    expect(stream.closed).toBe(false)
    const ended = once(h2.session, 'close')
    stream.close()
    await ended
  })

  it('ends with a GOAWAY that names the last handled request', async () => {
    let last = 0
    h2.session.once('goaway', (_code, stream: number) => {
      last = stream
    })
    const before = sandbox.requests.length
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const stream = h2.session.request({ ':path': '/version', authorization: 'Bearer made-up' })
        const status = new Promise((resolve) => {
          stream.once('response', (headers) => resolve(headers[':status']))
          stream.once('close', () => resolve('closed')).on('error', () => {})
        })
        stream.resume().end()
        const outcome = await status
        return { id: Number(stream.id), outcome }
      }),
    )
    const handled = outcomes.filter(({ id }) => id <= last)
    expect(new Set(handled.map(({ outcome }) => outcome))).toEqual(new Set([401]))
    expect(sandbox.requests.length - before).toBe(handled.length)
    const missed = outcomes.filter(({ id }) => id > last)
    expect(missed.length).toBeGreaterThan(0)
    expect(new Set(missed.map(({ outcome }) => outcome))).toEqual(new Set(['closed']))
  })

  it('stays open after a 401 of a hook, unless the hook closes it', async () => {
    sandbox.respondWith(() => ({ status: 401, body: {} }))
    await h2.call('/livez', { token })
    expect((await h2.call('/livez', { token })).status).toBe(401)
    expect(sandbox.connections.opened).toBe(1)
    sandbox.respondWith(() => ({ status: 401, headers: { Connection: 'close' }, body: {} }))
    const leaving = once(h2.session, 'goaway')
    expect((await h2.call('/livez', { token })).status).toBe(401)
    await leaving
  })
})
