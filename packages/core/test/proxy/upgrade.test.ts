import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { DEFAULT_RULES } from 'kubecred/proxy'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { ask, BEARER, type RunningProxy, SECRET, startProxy, startScene } from './scene.ts'

const EXEC = '/api/v1/namespaces/default/pods/web/exec'
const EVERYTHING = { ...DEFAULT_RULES, rejectPaths: [] }

let sandbox: Sandbox
let cluster: Cluster
let running: RunningProxy
beforeAll(async () => {
  sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane', credential: 'token' })
  cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } }
  const made = await cluster.fetch('/api/v1/namespaces/default/pods', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(pod),
  })
  expect(made.status).toBe(201)
})
afterEach(() => running[Symbol.asyncDispose]())
afterAll(async () => {
  await cluster.close()
  await sandbox.close()
})

/** Requests an upgrade, and returns the response and, if it succeeded, the connection. */
function upgrade(
  path: string,
  headers: http.OutgoingHttpHeaders,
): Promise<{ response: IncomingMessage; socket?: Duplex }> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: '127.0.0.1',
      port: running.port,
      path,
      method: headers['upgrade'] === 'websocket' ? 'GET' : 'POST',
      headers: { ...BEARER, connection: 'Upgrade', ...headers },
    })
    request.once('upgrade', (response, socket, early) => {
      if (early.length > 0) socket.unshift(early)
      resolve({ response, socket })
    })
    request.once('response', (response) => resolve({ response: response.resume() }))
    request.once('error', reject).end()
  })
}

describe('a WebSocket', () => {
  it('runs a command in a pod, even after the credential was revoked', async () => {
    running = await startProxy(cluster, { rules: EVERYTHING })
    for (const turn of [1, 2]) {
      const url = `ws://127.0.0.1:${running.port}${EXEC}?command=whoami&stdout=true`
      const socket = new WebSocket(url, ['v5.channel.k8s.io'], { headers: BEARER })
      const messages: Buffer[] = []
      socket.on('message', (data: Buffer) => messages.push(data))
      await once(socket, 'close')
      expect(messages.map((message) => String(message.subarray(1))).join('')).toContain('jane')
      if (turn === 1) sandbox.revoke('jane')
    }
    expect(running.notes).toMatchObject([
      { status: 101, isUpgrade: true },
      { status: 101, isUpgrade: true },
    ])
  })

  it('is rejected by the rules of kubectl proxy, and nothing is forwarded', async () => {
    running = await startProxy(cluster)
    const before = sandbox.requests.length
    for (const path of [EXEC, EXEC.replace('exec', 'attach'), EXEC.replace('exec', '%65xec')]) {
      const url = `ws://127.0.0.1:${running.port}${path}?command=whoami&stdout=true`
      const socket = new WebSocket(url, ['v5.channel.k8s.io'], { headers: BEARER })
      const [, response] = await once(socket, 'unexpected-response')
      expect((response as IncomingMessage).statusCode).toBe(403)
      response.destroy()
    }
    expect(sandbox.requests.length).toBe(before)
  })

  it('is rejected by read-only rules on any path, as is exec without a WebSocket', async () => {
    running = await startProxy(cluster, { rules: { ...EVERYTHING, readOnly: true } })
    const before = sandbox.requests.length
    for (const path of [EXEC, '/api/v1/pods?watch=1', EXEC.replace('exec', 'portforward')]) {
      const { response } = await upgrade(path, { upgrade: 'websocket' })
      expect(response.statusCode).toBe(403)
    }
    for (const method of ['GET', 'POST']) {
      const path = `${EXEC}?command=rm&stdout=true`
      expect(await ask(running.port, { method, path })).toMatchObject({ status: 403 })
    }
    expect(sandbox.requests.length).toBe(before)
    expect(await ask(running.port, { path: '/api/v1/pods' })).toMatchObject({ status: 200 })
  })

  it('with an Origin is forwarded with the origin of the cluster; other requests get no Origin', async () => {
    const scene = await startScene((_, response) => response.end())
    running = scene
    const ours = { origin: scene.url, upgrade: 'websocket' }
    await upgrade('/api/v1/pods?watch=1', ours)
    await upgrade('/api/v1/pods?watch=1', { upgrade: 'websocket' })
    await ask(scene.port, { headers: { ...BEARER, origin: scene.url } })
    const { origin } = new URL(scene.plain.url)
    expect(scene.seen.map(({ headers }) => headers['origin'])).toEqual([
      [origin],
      undefined,
      undefined,
    ])
  })

  it('cannot send its own token to the server', async () => {
    running = await startProxy(cluster, { rules: EVERYTHING })
    const { token } = sandbox.issueToken({ user: 'mallory' })
    const bearer = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
    const url = `ws://127.0.0.1:${running.port}${EXEC}?command=whoami&stdout=true`
    const socket = new WebSocket(url, ['v5.channel.k8s.io', bearer], { headers: BEARER })
    await once(socket, 'close')
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'jane', status: 101 })
  })
})

describe('SPDY', () => {
  it('carries bytes both ways', async () => {
    running = await startProxy(cluster, { rules: EVERYTHING })
    const { response, socket } = await upgrade(`${EXEC}?command=cat&stdin=true&stdout=true`, {
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': ['v4.channel.k8s.io', 'v3.channel.k8s.io'],
    })
    expect(response.statusCode).toBe(101)
    expect(response.headers).toMatchObject({ connection: 'Upgrade', upgrade: 'SPDY/3.1' })
    const sent = Buffer.alloc(3_000_000, 'spdy')
    const received: Buffer[] = []
    let size = 0
    const all = new Promise<void>((resolve) =>
      socket?.on('data', (chunk: Buffer) => {
        received.push(chunk)
        size += chunk.length
        if (size === sent.length) resolve()
      }),
    )
    socket?.write(sent)
    await all
    expect(Buffer.concat(received).equals(sent)).toBe(true)
    expect(running.proxy.open).toBe(1)
    socket?.destroy()
    await expect.poll(() => running.proxy.open).toBe(0)
  })
})

it('an upgrade that the server declines is answered with its response, and the connection ends', async () => {
  running = await startProxy(cluster, { rules: EVERYTHING })
  const { response } = await upgrade('/api/v1/namespaces/default/pods/missing/exec', {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  })
  expect(response.statusCode).toBe(404)
  expect(response.headers).toMatchObject({
    connection: 'close',
    'content-security-policy': 'sandbox',
  })
  expect(JSON.stringify(running.notes)).not.toContain(SECRET)
})
