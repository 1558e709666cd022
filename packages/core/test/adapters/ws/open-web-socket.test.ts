import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type KubeconfigUser, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { isCredentialError } from 'kubecred/errors'
import { type OpenedWebSocket, openWebSocket, webSocketOptions } from 'kubecred/ws'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { UpgradeRefusedError } from '../../../src/errors/index.ts'
import { type PlainServer, startPlainServer, TOKEN } from '../https/plain-server.ts'
import { EXEC_PROTOCOLS, echoed, execPath } from './exec-echo.ts'

let sandbox: Sandbox
let cluster: Cluster
const PATH = execPath('default', 'web')

beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(async () => {
  await cluster.close()
  await sandbox.close()
})

async function start(user?: KubeconfigUser, more: ConnectOptions = {}) {
  const exec = await sandbox.plugin({ user: 'jane' })
  cluster = await connect({
    kubeconfig: sandbox.writeKubeconfig({ user: user ?? { exec } }),
    ...more,
  })
  const made = await cluster.fetch('/api/v1/namespaces/default/pods', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'main', image: 'x' }] },
    }),
  })
  expect(made.status).toBe(201)
}

const closed = (socket: OpenedWebSocket): Promise<number> =>
  new Promise((resolve) => socket.once('close', resolve))

describe('openWebSocket', () => {
  it('opens a WebSocket with the credential, in both directions', async () => {
    await start()
    const socket = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS)
    expect(socket.protocol).toBe('v5.channel.k8s.io')
    expect(await echoed(socket, 'hello')).toBe('hello')
    const large = 'x'.repeat(300_000)
    expect(await echoed(socket, large)).toBe(large)
    const done = closed(socket)
    // The command ends with its standard input.
    socket.send(Buffer.of(255, 0))
    expect(await done).toBe(1000)
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'jane', status: 101 })
  })

  it.each([
    ['a URL of wss', () => `wss://127.0.0.1:${new URL(sandbox.url).port}${PATH}`],
    ['a URL of https', () => new URL(PATH, sandbox.url)],
  ])('accepts %s', async (_, place) => {
    await start()
    const socket = await openWebSocket(cluster, place(), 'v4.channel.k8s.io')
    expect(await echoed(socket, 'x')).toBe('x')
    socket.terminate()
  })

  it.each([
    'wss://other.example/api',
    'ws://127.0.0.1/api',
    'https://other.example/',
    '//other.example/x',
    'api/v1',
  ])('sends nothing to %s', async (place) => {
    await start()
    const before = sandbox.requests.length
    await expect(openWebSocket(cluster, place)).rejects.toMatchObject({
      code: 'ERR_FOREIGN_ORIGIN',
    })
    expect(sandbox.requests).toHaveLength(before)
  })

  it('refreshes the credential after a 401 and retries once', async () => {
    await start()
    sandbox.revoke('jane')
    const socket = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS)
    expect(await echoed(socket, 'x')).toBe('x')
    expect(sandbox.pluginRuns).toBe(2)
    socket.terminate()
  })

  it("rejects with the server's message when it refuses", async () => {
    await start()
    const refused = await openWebSocket(cluster, '/api/v1/namespaces/default/pods/no/exec').catch(
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(UpgradeRefusedError)
    expect(refused).toMatchObject({ status: 404 })
    expect((refused as Error).message).toContain('pods "no" not found')
  })

  it.each([
    [200, 'fine', 'fine'],
    [401, { message: 'go away' }, 'go away'],
    [403, '', 'Forbidden'],
    [500, 'x'.repeat(100_000), 'x'.repeat(200)],
  ])('rejects with an error for status %i', async (status, body, message) => {
    await start()
    sandbox.respondWith(() => ({ status, body }))
    const refused = await openWebSocket(cluster, PATH).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'ERR_UPGRADE_REFUSED', status })
    expect((refused as Error).message).toBe(
      `the server refused the upgrade with status ${status}: ${message}`,
    )
  })

  it('rejects with our error when no credential is available', async () => {
    const exec = await sandbox.plugin({ user: 'jane', exitCode: 3 })
    cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    const failure = await openWebSocket(cluster, PATH).catch((error: unknown) => error)
    expect(isCredentialError(failure)).toBe(true)
    expect(failure).toMatchObject({ code: 'ERR_PLUGIN_EXITED' })
  })

  it('rejects with our error when the server is unreachable', async () => {
    await start()
    const { url } = sandbox
    await sandbox.close()
    const failure = await openWebSocket(cluster, PATH).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'ERR_SERVER_UNREACHABLE', server: url })
    sandbox = await startSandbox()
  })

  it('is aborted by its signal while it waits for the credential or the response', async () => {
    const exec = await sandbox.plugin({ user: 'jane', delayMs: 300 })
    cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    const first = new AbortController()
    const waiting = openWebSocket(cluster, PATH, [], { signal: first.signal })
    setTimeout(() => first.abort(new Error('enough')), 20)
    await expect(waiting).rejects.toThrow('enough')
    expect(sandbox.requests).toEqual([])

    const second = new AbortController()
    sandbox.respondWith(() => {
      second.abort(new Error('enough again'))
      return new Promise(() => {})
    })
    const asked = openWebSocket(cluster, PATH, [], { signal: second.signal })
    await expect(asked).rejects.toThrow('enough again')
    await expect.poll(() => sandbox.connections.open, { timeout: 10_000 }).toBe(0)

    const late = openWebSocket(cluster, PATH, [], { signal: second.signal })
    await expect(late).rejects.toThrow('enough again')
  })

  it("sends a caller's own Authorization in place of ours", async () => {
    await start()
    const { token } = sandbox.issueToken({ user: 'ann' })
    const headers = { authorization: `Bearer ${token}` }
    const socket = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS, { headers })
    expect(sandbox.requests.at(-1)?.user).toBe('ann')
    socket.terminate()
  })

  it('uses the class of the caller', async () => {
    await start()
    class Own extends WebSocket {
      readonly isOwn = true
    }
    const socket = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS, { WebSocket: Own })
    expect(socket.isOwn).toBe(true)
    socket.terminate()
  })
})

describe('an open WebSocket', () => {
  it('ends with the cluster, without an unhandled error', async () => {
    await start()
    const socket = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS)
    const done = closed(socket)
    await cluster.close()
    expect(await done).toBe(1006)
    await expect(openWebSocket(cluster, PATH)).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it.each([
    ['stays open when the certificate rotates', {}, true],
    ['ends policy.drainLimitMs after the certificate rotated', { drainLimitMs: 100 }, false],
  ])('%s', async (_, policy, isOpen) => {
    const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
    await start({ exec }, { policy })
    const socket = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS)
    const done = closed(socket)
    sandbox.revokeCertificates('jane')
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(sandbox.pluginRuns).toBe(2)
    if (isOpen) expect(await echoed(socket, 'still here')).toBe('still here')
    else expect(await done).toBe(1006)
    socket.terminate()
  })

  it('is closed on both sides when one side disconnects', async () => {
    await start()
    const socket = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS)
    const before = sandbox.connections.open
    socket.terminate()
    await expect.poll(() => sandbox.connections.open, { timeout: 10_000 }).toBeLessThan(before)
    const other = await openWebSocket(cluster, PATH, EXEC_PROTOCOLS)
    const done = closed(other)
    sandbox.dropConnections()
    expect(await done).toBe(1006)
  })
})

describe('over the bridge', () => {
  let plain: PlainServer
  afterEach(() => plain[Symbol.asyncDispose]())

  it('pings, pongs, close codes and the options of ws are passed on', async () => {
    plain = await startPlainServer((_, response) => response.end())
    const server = new WebSocketServer({ server: plain.server, perMessageDeflate: true })
    const accepted = once(server, 'connection') as Promise<[WebSocket, { headers: object }]>
    cluster = plain.cluster
    const url = `${plain.url.replace('https', 'wss')}/any`
    const socket = new WebSocket(url, webSocketOptions(cluster))
    await once(socket, 'open')
    const [serverSide, { headers }] = await accepted
    expect(headers).toMatchObject({ authorization: `Bearer ${TOKEN}` })
    expect(socket.extensions).toContain('permessage-deflate')
    const pong = once(socket, 'pong')
    socket.ping('are you there')
    expect(String((await pong)[0])).toBe('are you there')
    const ponged = once(serverSide, 'pong')
    serverSide.ping('and you')
    expect(String((await ponged)[0])).toBe('and you')
    const code = once(serverSide, 'close')
    const done = once(socket, 'close')
    socket.close(4001, 'enough')
    expect(await code).toMatchObject([4001, Buffer.from('enough')])
    expect((await done)[0]).toBe(4001)
    server.close()
  })

  it('a message that arrives with the response is not lost', async () => {
    plain = await startPlainServer((_, response) => response.end())
    cluster = plain.cluster
    plain.server.on('upgrade', ({ headers }, socket) => {
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
      const accept = createHash('sha1').update(key).digest('base64')
      const head = ['HTTP/1.1 101 OK', 'Connection: Upgrade', 'Upgrade: websocket']
      const answer = [...head, `Sec-WebSocket-Accept: ${accept}`, '', '\x81\x05hello'].join('\r\n')
      socket.write(answer, 'latin1')
    })
    for (let opened = 0; opened < 5; opened += 1) {
      const socket = await openWebSocket(cluster, '/any')
      const message = await new Promise((resolve) => socket.once('message', resolve))
      expect(String(message)).toBe('hello')
      socket.terminate()
    }
  })

  it('a server that violates the WebSocket protocol does not end the process', async () => {
    plain = await startPlainServer((_, response) => response.end())
    cluster = plain.cluster
    const server = new WebSocketServer({ server: plain.server })
    server.once('connection', (_, { socket }) => socket.write(Buffer.alloc(10, 0xff)))
    const socket = await openWebSocket(cluster, '/any')
    expect(await closed(socket)).toBe(1006)
    server.close()
  })
})
