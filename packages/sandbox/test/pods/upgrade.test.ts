import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call } from '../client.ts'
import { connectH2 } from '../h2-client.ts'
import { attach, createPod, POD } from './pod.ts'

let sandbox: Sandbox
let token: string
beforeEach(async () => {
  sandbox = await startSandbox({
    forbid: (user, _, path) => user.username === 'kim' && path.includes('/exec'),
  })
  token = sandbox.issueToken({ user: 'jane' }).token
  await createPod(sandbox, token)
})
afterEach(async () => sandbox.close())

const CAT = `${POD}/exec?command=cat`

/** Sends a handshake and reads the response until the connection ends. */
async function refused(
  path: string,
  headers: Record<string, string>,
  protocols = ['v4.channel.k8s.io'],
) {
  const socket = new WebSocket(sandbox.url.replace(/^http/, 'ws') + path, protocols, {
    ca: sandbox.caPem,
    headers,
  })
  const [, response] = await once(socket, 'unexpected-response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const ended = response.socket.destroyed || (await once(response.socket, 'close')) !== undefined
  const { statusCode: status, headers: received } = response
  return { status, headers: received, ended, json: JSON.parse(Buffer.concat(chunks).toString()) }
}

describe('an upgrade', () => {
  it.each([
    { who: 'a bad token', user: undefined, path: CAT, status: 401, reason: 'Unauthorized' },
    { who: 'a user who may not', user: 'kim', path: CAT, status: 403, reason: 'Forbidden' },
    {
      who: 'a pod that is not there',
      user: 'jane',
      path: CAT.replace('web', 'gone'),
      status: 404,
      reason: 'NotFound',
    },
    {
      who: 'no port',
      user: 'jane',
      path: `${POD}/portforward`,
      status: 400,
      reason: 'BadRequest',
    },
    {
      who: 'a port that is none',
      user: 'jane',
      path: `${POD}/portforward?ports=80,x`,
      status: 400,
      reason: 'BadRequest',
    },
  ])('of $who is answered with $status, and the connection ends', async (row) => {
    const shown = row.user === undefined ? 'made-up' : sandbox.issueToken({ user: row.user }).token
    const answer = await refused(row.path, { authorization: `Bearer ${shown}` })
    expect(answer).toMatchObject({ status: row.status, ended: true })
    expect(answer.json).toMatchObject({ kind: 'Status', reason: row.reason, code: row.status })
    expect(answer.headers).toHaveProperty('audit-id')
    expect(sandbox.requests.at(-1)).toMatchObject({ status: row.status, httpVersion: '1.1' })
  })

  it('without a credential is anonymous', async () => {
    const { status, json } = await refused(CAT, {})
    expect(status).toBe(403)
    expect(json.message).toContain('User "system:anonymous" cannot get resource "pods/exec"')
  })

  it('is forbidden if its user may not impersonate', async () => {
    const headers = { authorization: `Bearer ${token}`, 'impersonate-user': 'root' }
    expect((await refused(CAT, headers)).status).toBe(403)
  })

  it('passes the hook, which can reject it', async () => {
    sandbox.respondWith(({ user, headers }) => ({
      status: 429,
      body: { for: user?.username, upgrade: headers.upgrade },
    }))
    const answer = await refused(CAT, { authorization: `Bearer ${token}` })
    expect(answer).toMatchObject({ status: 429, json: { for: 'jane', upgrade: 'websocket' } })
  })

  it('to an unknown protocol is rejected like by the kubelet', async () => {
    const answer = await refused(CAT, { authorization: `Bearer ${token}` }, ['chat'])
    expect(answer.status).toBe(403)
    expect(answer.json.message).toContain('not supported: [chat]')
  })

  it('is required, over HTTP/1.1 and HTTP/2', async () => {
    expect(await call(sandbox, CAT, { token })).toMatchObject({
      status: 400,
      json: { message: 'Upgrade request required' },
    })
    await using h2 = connectH2(sandbox)
    expect((await h2.call(CAT, { method: 'POST', token })).status).toBe(400)
  })

  it('is ignored for other resources than pods', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    const answer = await call(sandbox, '/api/v1/namespaces', { token, headers })
    expect(answer).toMatchObject({ status: 200, json: { kind: 'NamespaceList' } })
  })

  it('works over plain HTTP', async () => {
    await using plain = await startSandbox({ http: true })
    const { token: known } = plain.issueToken({ user: 'jane' })
    await createPod(plain, known)
    const pod = await attach(plain, `${POD}/exec?command=whoami`, known)
    expect((await pod.ended()).bytes(1).toString()).toBe('jane')
  })
})

describe('an upgraded connection', () => {
  it('is counted while it is open', async () => {
    sandbox.dropConnections()
    const { opened } = sandbox.connections
    const pod = await attach(sandbox, CAT, token)
    await attach(sandbox, CAT, token)
    expect(sandbox.connections).toEqual({ opened: opened + 2, open: 2 })
    const numbers = sandbox.requests.slice(-2).map(({ connection }) => connection)
    expect(numbers).toEqual([opened + 1, opened + 2])
    pod.socket.close()
    await pod.ended()
    await expect.poll(() => sandbox.connections.open).toBe(1)
  })

  it.each(['close', 'restart', 'dropConnections'] as const)('is ended by %s', async (way) => {
    const pod = await attach(sandbox, CAT, token)
    await sandbox[way]()
    expect((await pod.ended()).code).toBe(1006)
    expect(sandbox.connections.open).toBe(0)
  })

  it('stays open after its token is revoked', async () => {
    const pod = await attach(sandbox, CAT, token)
    sandbox.revoke(token)
    pod.send(0, 'still here')
    await pod.until(1, 'still here')
    pod.socket.terminate()
  })
})

describe('SPDY', () => {
  const ask = async (shown: string): Promise<TLSSocket> => {
    const port = Number(new URL(sandbox.url).port)
    const socket = connect({ host: '127.0.0.1', port, ca: sandbox.caPem })
    await once(socket, 'secureConnect')
    const lines = [
      `POST ${CAT} HTTP/1.1`,
      'Host: sandbox',
      `Authorization: Bearer ${shown}`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'X-Stream-Protocol-Version: v5.channel.k8s.io',
      'X-Stream-Protocol-Version: v4.channel.k8s.io',
    ]
    // The first bytes of the new protocol may follow immediately.
    socket.write(`${lines.join('\r\n')}\r\n\r\n\x01\x02`)
    return socket
  }

  it('echoes after the same checks as a WebSocket', async () => {
    const socket = await ask(token)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    while (!text.endsWith('\x01\x02')) await once(socket, 'data')
    expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    expect(text).toContain('\r\nUpgrade: SPDY/3.1\r\n')
    expect(text).toContain('\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n')
    socket.write('more')
    while (!text.endsWith('more')) await once(socket, 'data')
    socket.end()
    await once(socket, 'close')
    expect(sandbox.requests.at(-1)).toMatchObject({ method: 'POST', status: 101, user: 'jane' })
  })

  it('is rejected without a valid credential', async () => {
    const socket = await ask('made-up')
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
    expect(text).toMatch(/\r\nConnection: close\r\n/i)
    expect(text).toContain('"reason":"Unauthorized"')
  })
})
