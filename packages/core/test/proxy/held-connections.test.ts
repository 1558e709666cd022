import { once } from 'node:events'
import net from 'node:net'
import { DEFAULT_RULES } from 'kubecred/proxy'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, BEARER, head, type Scene, startScene } from './scene.ts'

let scene: Scene
afterEach(() => scene[Symbol.asyncDispose]())

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket']

/** Sends bytes and keeps its own side open. */
function openFor(bytes: string): net.Socket {
  const socket = net.connect({ port: scene.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {}).resume()
  socket.write(bytes)
  return socket
}

/** Waits until the proxy has closed its side, and then closes the other. */
async function letGo(socket: net.Socket): Promise<void> {
  await Promise.race([once(socket, 'end'), once(socket, 'close')])
  socket.destroy()
}

describe('a connection of a client without the secret', () => {
  it('cannot be upgraded before its first request is answered', async () => {
    scene = await startScene((_request, response) => response.end('{}'))
    const plain = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${scene.port}\r\n`
    const socket = openFor(`${plain}\r\n${plain}${UPGRADE.join('\r\n')}\r\n\r\n`)
    await letGo(socket)
    expect(await ask(scene.port)).toMatchObject({ status: 200 })
  })

  it('is closed after its upgrade was rejected, even if the client keeps its side open', async () => {
    scene = await startScene((_request, response) => response.end('{}'), {
      limits: { connections: 3 },
    })
    const refused = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${scene.port}\r\n${UPGRADE.join('\r\n')}\r\n\r\n`
    const sockets = [1, 2, 3].map(() => openFor(refused))
    await Promise.all(sockets.map((socket) => once(socket, 'end')))
    await expect.poll(() => scene.proxy.open, { timeout: 10_000 }).toBe(0)
    expect(await ask(scene.port)).toMatchObject({ status: 200 })
    for (const socket of sockets) socket.destroy()
  })
})

describe('a request with the secret', () => {
  it('cannot upgrade a connection on which a slow response is in progress', async () => {
    scene = await startScene((_request, response) => {
      response.write('begin')
    })
    const first = head(scene.port, 'GET /api HTTP/1.1')
    const socket = openFor(`${first}${head(scene.port, 'GET /api HTTP/1.1', ...UPGRADE)}`)
    await letGo(socket)
    await expect.poll(() => scene.proxy.open, { timeout: 10_000 }).toBe(0)
    expect(scene.seen.length).toBeLessThanOrEqual(1)
  })

  it.each([
    ['an empty name', { 'impersonate-user': '' }],
    ['a blank name', { 'impersonate-user': ' ' }],
    ['groups alone', { 'impersonate-group': 'system:masters' }],
    ['an unknown header', { 'impersonate-foo': 'x' }],
  ])('cannot remove the impersonation of the kubeconfig with %s', async (_, headers) => {
    const rules = { ...DEFAULT_RULES, allowImpersonation: true }
    scene = await startScene((_request, response) => response.end('{}'), { rules })
    const answer = await ask(scene.port, { headers: { ...BEARER, ...headers } })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('Impersonate-User')
    expect(scene.seen).toEqual([])
  })
})
