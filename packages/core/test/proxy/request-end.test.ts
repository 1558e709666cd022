import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { EndedRequest } from 'kubecred/proxy'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ask, BEARER, head, type Scene, SECRET, send, sendBytes, startScene } from './scene.ts'

let scene: Scene
let ended: EndedRequest[]
afterEach(() => scene[Symbol.asyncDispose]())

async function start(listener: RequestListener): Promise<number> {
  ended = []
  scene = await startScene(listener, { onRequestEnd: (note) => ended.push(note) })
  return scene.port
}

describe('the end of a request is reported', () => {
  it('with its duration and size, and without its query', async () => {
    const port = await start((_, response) => response.end('x'.repeat(5_000)))
    await ask(port, { path: '/api/v1/pods?token=s3cret' })
    await vi.waitFor(() => expect(ended).toHaveLength(1))
    const [note] = ended
    expect(note).toMatchObject({ method: 'GET', path: '/api/v1/pods', status: 200 })
    expect(note?.address).toBe('127.0.0.1')
    expect(note?.sentBytes).toBeGreaterThan(5_000)
    expect(note?.sentBytes).toBeLessThan(6_000)
    expect(note?.totalMs).toBeGreaterThanOrEqual(note?.tookMs ?? Number.NaN)
    expect(JSON.stringify(ended)).not.toMatch(new RegExp(`s3cret|${SECRET}`))
  })

  it('only when a stream ends, although its beginning was reported', async () => {
    const port = await start((_, response) => response.write('first'))
    const watch = await send(port)
    await once(watch, 'data')
    expect(scene.notes).toHaveLength(1)
    expect(ended).toEqual([])
    watch.destroy()
    await vi.waitFor(() => expect(ended).toMatchObject([{ status: 200 }]))
  })

  it('if the request was refused, or is not a request at all', async () => {
    const port = await start((_, response) => response.end())
    await ask(port, { headers: {} })
    await sendBytes(port, 'nonsense\r\n\r\n')
    await sendBytes(port, head(port, `GET /${'x'.repeat(70_000)} HTTP/1.1`))
    await vi.waitFor(() => expect(ended).toHaveLength(3))
    expect(ended.map(({ status, rejectedFor }) => [status, rejectedFor])).toEqual([
      [401, 'the secret'],
      [400, 'no request'],
      [431, 'headers'],
    ])
  })

  it('if it is an upgrade, when the connection closes', async () => {
    const port = await start(() => {})
    scene.plain.server.on('upgrade', (_: IncomingMessage, socket: Socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n')
      socket.write('Connection: Upgrade\r\n\r\nhello')
    })
    const headers = { ...BEARER, connection: 'Upgrade', upgrade: 'websocket' }
    const request = http.request({ host: '127.0.0.1', port, path: '/api', headers, agent: false })
    const [, socket] = await once(request.end(), 'upgrade')
    expect(ended).toEqual([])
    socket.destroy()
    await vi.waitFor(() => expect(ended).toMatchObject([{ status: 101, isUpgrade: true }]))
  })

  it('each once on a connection with several', async () => {
    const port = await start((_, response) => response.end('x'.repeat(3_000)))
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    for (const path of ['/a', '/b', '/c']) {
      const request = http.get({ host: '127.0.0.1', port, path, headers: BEARER, agent })
      const [response] = await once(request, 'response')
      await once(response.resume(), 'end')
    }
    agent.destroy()
    await vi.waitFor(() => expect(ended).toHaveLength(3))
    expect(ended.map(({ path }) => path)).toEqual(['/a', '/b', '/c'])
    for (const { sentBytes } of ended) expect(sentBytes).toBeLessThan(4_000)
  })
})

describe('while a proxy drains', () => {
  it('a request is served, and its connection closed', async () => {
    const port = await start((_, response) => response.end('ok'))
    const agent = new http.Agent({ keepAlive: true })
    const connection = async (): Promise<string | undefined> => {
      const request = http.get({ host: '127.0.0.1', port, headers: BEARER, agent })
      const [response] = await once(request, 'response')
      await once(response.resume(), 'end')
      expect(response.statusCode).toBe(200)
      return response.headers.connection
    }
    expect(await connection()).toBe('keep-alive')
    scene.proxy.drain()
    expect(await connection()).toBe('close')
    expect(await connection()).toBe('close')
    agent.destroy()
  })
})

describe('a replaced secret', () => {
  it('is the only one that is accepted, or one of two', async () => {
    const port = await start((_, response) => response.end('ok'))
    const [second, third] = ['second-secret-0123456789', 'third-secret-0123456789']
    const statuses = async (): Promise<number[]> => {
      const given = [SECRET, second, third]
      const all = given.map((each) => ask(port, { headers: { authorization: `Bearer ${each}` } }))
      return (await Promise.all(all)).map(({ status }) => status)
    }
    expect(await statuses()).toEqual([200, 401, 401])
    scene.proxy.replaceSecrets([SECRET, second])
    expect(await statuses()).toEqual([200, 200, 401])
    scene.proxy.replaceSecrets([third])
    expect(await statuses()).toEqual([401, 401, 200])
    expect(() => scene.proxy.replaceSecrets([])).toThrow('at least one secret')
    expect(() => scene.proxy.replaceSecrets(['short'])).toThrow('at least 16')
    expect(await statuses()).toEqual([401, 401, 200])
  })
})
