import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, BEARER, head, type Scene, send, startScene } from './scene.ts'

let scene: Scene
afterEach(() => scene[Symbol.asyncDispose]())

describe('closing a proxy', () => {
  it('lets requests in flight finish, and accepts no new ones', async () => {
    const streams: http.ServerResponse[] = []
    scene = await startScene((_, response) => {
      response.write('begin ')
      streams.push(response)
    })
    const idle = net.connect(scene.port, '127.0.0.1').resume()
    await once(idle, 'connect')
    const agent = new http.Agent({ keepAlive: true })
    const options = { host: '127.0.0.1', port: scene.port, path: '/api', headers: BEARER, agent }
    const [response] = (await once(http.get(options), 'response')) as [http.IncomingMessage]
    const gone = once(idle, 'close')
    const closed = scene.proxy.close({ graceMs: 60_000 })
    await gone
    await expect(ask(scene.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(scene.proxy.open).toBe(1)
    streams[0]?.end('end')
    let text = ''
    for await (const chunk of response) text += chunk
    expect(text).toBe('begin end')
    await closed
    expect(scene.proxy.open).toBe(0)
  })

  it('rejects the next request on a busy connection', async () => {
    const streams: http.ServerResponse[] = []
    scene = await startScene((_, response) => void streams.push(response))
    const socket = net.connect(scene.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.write(head(scene.port, 'GET /api HTTP/1.1'))
    await expect.poll(() => streams.length).toBe(1)
    const closed = scene.proxy.close({ graceMs: 60_000 })
    socket.write(head(scene.port, 'GET /second HTTP/1.1'))
    await expect.poll(() => scene.notes.length).toBe(1)
    streams[0]?.end('first')
    await once(socket, 'close')
    await closed
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503'])
    expect(scene.seen).toHaveLength(1)
  })

  it('cuts off what does not finish, streams and upgrades alike', async () => {
    scene = await startScene((_, response) => void response.write('endless'))
    scene.plain.server.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
      )
    })
    const response = await send(scene.port)
    const failed = once(response, 'error')
    response.resume()
    const upgraded = net.connect(scene.port, '127.0.0.1').on('error', () => {})
    upgraded.write(
      head(scene.port, 'POST /api HTTP/1.1', 'Connection: Upgrade', 'Upgrade: SPDY/3.1'),
    )
    await once(upgraded, 'data')
    expect(scene.proxy.open).toBe(2)
    const ended = new Promise((resolve) => upgraded.once('close', resolve))
    await scene.proxy.close({ graceMs: 50 })
    await Promise.all([failed, ended])
    await expect.poll(() => scene.proxy.open).toBe(0)
  })

  it('is immediate if no request is in flight, and may be repeated', async () => {
    scene = await startScene((_, response) => response.end())
    await ask(scene.port)
    await Promise.all([scene.proxy.close(), scene.proxy.close()])
    expect(await scene.plain.cluster.fetch('/api')).toMatchObject({ status: 200 })
  })
})
