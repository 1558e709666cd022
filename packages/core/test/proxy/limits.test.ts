import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import tls from 'node:tls'
import { serverOptions } from 'kubecred/proxy'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { makePair } from '../fixtures/make-certificates.ts'
import { ask, BEARER, head, type Scene, SECRET, sendBytes, startScene } from './scene.ts'

let scene: Scene
afterEach(() => scene[Symbol.asyncDispose]())

const answers: http.RequestListener = (_, response) => void response.end('from the server')

/** Opens a connection that sends nothing. */
function openIdle(port: number): net.Socket {
  return net.connect(port, '127.0.0.1').on('error', () => {})
}

describe('headers', () => {
  it('that are too large are rejected before they have all arrived', async () => {
    scene = await startScene(answers, { limits: { headerBytes: 8192 } })
    const text = await sendBytes(
      scene.port,
      head(scene.port, 'GET /api HTTP/1.1', `X: ${'x'.repeat(9000)}`),
    )
    expect(text).toMatch(/^HTTP\/1.1 431 .*"kind":"Status"/s)
    const long = await sendBytes(scene.port, head(scene.port, `GET /${'x'.repeat(9000)} HTTP/1.1`))
    expect(long).toMatch(/^HTTP\/1.1 431 /)
    expect(scene.seen).toEqual([])
  })

  it('may be as long as the arguments of a command', async () => {
    scene = await startScene(answers)
    const path = `/api?command=${'x'.repeat(50_000)}`
    expect(await ask(scene.port, { path })).toMatchObject({ status: 200 })
  })

  it('are never dropped for their number', async () => {
    scene = await startScene(answers)
    const many = Array.from({ length: 3000 }, (_, at) => `x${at}: y`)
    const lines = [...many, 'Impersonate-User: system:admin', 'Connection: close']
    const text = await sendBytes(scene.port, head(scene.port, 'GET /api HTTP/1.1', ...lines))
    expect(text).toMatch(/^HTTP\/1.1 403 /)
    expect(scene.seen).toEqual([])
  })

  it('that arrive too slowly, or not at all, end the connection', async () => {
    scene = await startScene(answers, { limits: { headersTimeoutMs: 300 } })
    const silent = openIdle(scene.port)
    const slow = openIdle(scene.port)
    let received = ''
    slow.on('data', (chunk) => {
      received += chunk
    })
    slow.write(`GET /api HTTP/1.1\r\nHost: 127.0.0.1:${scene.port}\r\n`)
    const drip = setInterval(() => slow.write('X: y\r\n'), 50)
    silent.resume()
    await Promise.all([once(slow, 'close'), once(silent, 'close')])
    clearInterval(drip)
    expect(received).toMatch(/^HTTP\/1.1 408 /)
    expect(await ask(scene.port)).toMatchObject({ status: 200 })
    expect(scene.seen).toHaveLength(1)
  })
})

describe('connections', () => {
  const idle = inject('isLong') ? 10_000 : 1000
  it(`are limited: of ${idle} idle ones the oldest are closed, and the next request is answered`, async () => {
    scene = await startScene(answers, { limits: { connections: 100 } })
    const open = new Set<net.Socket>()
    for (let count = 0; count < idle; count += 500) {
      const batch = Array.from({ length: 500 }, () => {
        const socket = openIdle(scene.port)
        open.add(socket)
        socket.resume().once('close', () => open.delete(socket))
        return once(socket, 'connect')
      })
      await Promise.allSettled(batch)
      if (count % 2500 === 0) expect(await ask(scene.port)).toMatchObject({ status: 200 })
    }
    expect(await ask(scene.port)).toMatchObject({ status: 200 })
    await expect.poll(() => open.size, { timeout: 20_000 }).toBeLessThanOrEqual(100)
    const held = await new Promise((resolve) =>
      scene.server.getConnections((_, count) => resolve(count)),
    )
    expect(held).toBeLessThanOrEqual(100)
    for (const socket of open) socket.destroy()
  })

  it('that are busy are not closed for new ones', async () => {
    const streams: http.ServerResponse[] = []
    scene = await startScene(
      (_, response) => {
        response.write('begin\n')
        streams.push(response)
      },
      { limits: { connections: 3 } },
    )
    const watches = await Promise.all(
      [1, 2, 3].map(async () => {
        const socket = openIdle(scene.port)
        socket.write(head(scene.port, 'GET /api/v1/pods?watch=1 HTTP/1.1'))
        await once(socket, 'data')
        return socket
      }),
    )
    await expect(ask(scene.port)).rejects.toMatchObject({ code: 'ECONNRESET' })
    streams[0]?.write('more\n')
    await Promise.race(watches.map((socket) => once(socket, 'data')))
    expect(watches.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
    watches[0]?.destroy()
    await expect.poll(() => scene.proxy.open).toBe(2)
    streams.length = 0
    const last = openIdle(scene.port)
    last.write(head(scene.port, 'GET /api HTTP/1.1'))
    await once(last, 'data')
    for (const socket of [...watches, last]) socket.destroy()
  })

  it.each([
    ['uploads', ['Content-Length: 1000000'], 'x'],
    ['uploads in chunks', ['Transfer-Encoding: chunked'], '1\r\nx\r\n'],
    ['upgrades', ['Connection: Upgrade', 'Upgrade: SPDY/3.1'], ''],
  ])('of rejected %s that never end are closed for new ones', async (_, more, body) => {
    scene = await startScene(answers, { limits: { connections: 3 } })
    const rejected = await Promise.all(
      [1, 2, 3].map(async () => {
        const socket = net.connect({ port: scene.port, host: '127.0.0.1', allowHalfOpen: true })
        const lines = ['POST /api HTTP/1.1', `Host: 127.0.0.1:${scene.port}`, ...more]
        socket.on('error', () => {}).write(`${lines.join('\r\n')}\r\n\r\n${body}`)
        const [answer] = (await once(socket, 'data')) as [Buffer]
        expect(String(answer)).toMatch(/^HTTP\/1.1 401 /)
        return socket
      }),
    )
    expect(await ask(scene.port)).toMatchObject({ status: 200 })
    expect(scene.seen).toHaveLength(1)
    for (const socket of rejected) socket.destroy()
  })

  it('with a request in flight are not closed for a rejected one behind it', async () => {
    scene = await startScene((_, response) => void response.write('begin\n'), {
      limits: { connections: 1 },
    })
    const socket = openIdle(scene.port)
    const host = `Host: 127.0.0.1:${scene.port}`
    const upload = `POST /api HTTP/1.1\r\n${host}\r\nContent-Length: 100\r\n\r\nx`
    socket.write(`${head(scene.port, 'GET /api/v1/pods?watch=1 HTTP/1.1')}${upload}`)
    await once(socket, 'data')
    await expect.poll(() => scene.proxy.open).toBe(2)
    await expect(ask(scene.port)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(socket.destroyed).toBe(false)
    socket.destroy()
  })

  it('that never finish their TLS handshake are closed for new ones', async () => {
    const { certificate: cert, key } = await makePair()
    scene = await startScene(answers, { limits: { connections: 20 }, tls: { cert, key } })
    const idle = Array.from({ length: 50 }, () => openIdle(scene.port))
    await Promise.all(idle.map((socket) => once(socket, 'connect')))
    for (const _ of [1, 2, 3]) {
      const socket = tls.connect({ port: scene.port, host: '127.0.0.1', rejectUnauthorized: false })
      socket.write(head(scene.port, 'GET /api HTTP/1.1', 'Connection: close'))
      let text = ''
      for await (const chunk of socket) text += chunk
      expect(text).toContain('from the server')
    }
    for (const socket of idle) socket.destroy()
  })

  it('are closed if they are idle for too long', async () => {
    scene = await startScene(answers, { limits: { idleMs: 100 } })
    const text = await sendBytes(scene.port, head(scene.port, 'GET /api HTTP/1.1'))
    expect(text).toMatch(/^HTTP\/1.1 200 /)
  })

  it('with too many pipelined requests are closed', async () => {
    scene = await startScene(() => {}, { limits: { pipelined: 4 } })
    await sendBytes(scene.port, head(scene.port, 'GET /api HTTP/1.1').repeat(50))
    expect(scene.notes.length).toBeLessThanOrEqual(50)
    await expect.poll(() => scene.proxy.open).toBe(0)
    expect(scene.seen.length).toBeLessThanOrEqual(5)
  })
})

it('thousands of requests leave nothing behind', { timeout: 60_000 }, async () => {
  scene = await startScene(answers)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  const get = () =>
    new Promise<void>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: scene.port, path: '/api', headers: BEARER, agent }
      http.get(options, (response) => response.resume().once('end', resolve)).once('error', reject)
    })
  for (let count = 0; count < 3_000; count += 100) {
    await Promise.all(Array.from({ length: 100 }, get))
  }
  expect(scene.proxy.open).toBe(0)
  const sockets = await new Promise((resolve) =>
    scene.server.getConnections((_, count) => resolve(count)),
  )
  expect(sockets).toBeLessThanOrEqual(8)
  agent.destroy()
})

describe('options', () => {
  it.each([
    [{ connections: 0 }, /limits.connections/],
    [{ headerBytes: Number.NaN }, /limits.headerBytes/],
    [{ idleMs: -1 }, /limits.idleMs/],
  ])('%j is not a valid limit', (limits, message) => {
    expect(() => serverOptions(limits)).toThrow(message)
  })

  it.each([
    [{ secret: '' }, /secret/],
    [{ secret: 'short' }, /secret/],
    [{ secret: undefined }, /secret/],
    [{ hosts: [] }, /hosts/],
    [{ prefix: 'api' }, /prefix/],
    [{ prefix: '/a/../b' }, /prefix/],
  ])('%j is rejected', async (options, message) => {
    scene = await startScene(answers)
    await expect(startScene(answers, options)).rejects.toThrow(message)
  })

  it('without a secret allow any host, but no page in a browser', async () => {
    await scene?.[Symbol.asyncDispose]()
    scene = await startScene(answers, { hosts: 'any', secret: undefined })
    const headers = { host: 'anything' }
    expect(await ask(scene.port, { headers })).toMatchObject({ status: 200 })
    expect(await ask(scene.port, { headers: { ...headers, origin: scene.url } })).toMatchObject({
      status: 403,
    })
    expect(await ask(scene.port, { headers: BEARER })).toMatchObject({ status: 200 })
    expect(JSON.stringify(scene.seen)).not.toContain(SECRET)
  })

  it('with a prefix remove it before the rules are checked', async () => {
    scene = await startScene(answers, { prefix: '/cluster' })
    expect(await ask(scene.port, { path: '/cluster/api/v1' })).toMatchObject({ status: 200 })
    expect(await ask(scene.port, { path: '/api/v1' })).toMatchObject({ status: 404 })
    expect(await ask(scene.port, { path: '/clusterapi' })).toMatchObject({ status: 404 })
    const exec = '/cluster/api/v1/namespaces/a/pods/b/exec'
    expect(await ask(scene.port, { path: exec })).toMatchObject({ status: 403 })
    expect(scene.seen.map(({ url }) => url)).toEqual(['/api/v1'])
  })
})
