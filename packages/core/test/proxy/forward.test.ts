import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { withResolvers } from '../adapters/https/with-resolvers.ts'
import { ask, BEARER, head, type Scene, send, sendBytes, startScene } from './scene.ts'

let scene: Scene
afterEach(() => scene[Symbol.asyncDispose]())

const MEGABYTE = Buffer.alloc(1024 * 1024, 'x')

/** Reads a whole body. */
async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

describe('a body', () => {
  it.each([
    ['small', Buffer.from('{"kind":"ConfigMap"}')],
    ['binary', Buffer.from([0, 255, 13, 10, 128])],
    ['large', Buffer.concat(Array.from({ length: 5 }, () => MEGABYTE))],
  ])('that is %s is forwarded and returned unchanged', async (_, body) => {
    scene = await startScene(async (request, response) => {
      const content = await readAll(request)
      response.end(content)
    })
    const response = await send(scene.port, { method: 'POST', body })
    expect((await readAll(response)).equals(body)).toBe(true)
  })

  it('in chunks is forwarded without its trailers', async () => {
    const received = withResolvers<[string, IncomingMessage['trailers'], string | undefined]>()
    scene = await startScene(async (request, response) => {
      received.resolve([String(await readAll(request)), request.trailers, request.headers.trailer])
      response.end()
    })
    const lines = ['Transfer-Encoding: chunked', 'Trailer: Authorization', 'Connection: close']
    const body = '3\r\nabc\r\n0\r\nAuthorization: Bearer x\r\n\r\n'
    await sendBytes(scene.port, head(scene.port, 'POST /api HTTP/1.1', ...lines) + body)
    expect(await received.promise).toEqual(['abc', {}, undefined])
  })

  it('is requested with 100 Continue only if the request is allowed', async () => {
    scene = await startScene(async (request, response) => response.end(await readAll(request)))
    const sendWith = async (headers: http.OutgoingHttpHeaders) => {
      const request = http.request({
        host: '127.0.0.1',
        port: scene.port,
        method: 'POST',
        path: '/api',
        headers: { ...headers, expect: '100-continue', 'content-length': 5 },
      })
      let isAsked = false
      request.once('continue', () => {
        isAsked = true
        request.end('hello')
      })
      request.flushHeaders()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.resume()
      request.on('error', () => {}).destroy()
      return [response.statusCode, isAsked]
    }
    expect(await sendWith(BEARER)).toEqual([200, true])
    expect(await sendWith({})).toEqual([401, false])
  })

  it('of a rejected request does not prevent the response', async () => {
    scene = await startScene((_, response) => response.end())
    const answer = await ask(scene.port, { method: 'POST', headers: {}, body: MEGABYTE })
    expect(answer.status).toBe(401)
  })

  it('is not read if Expect has any other value', async () => {
    scene = await startScene((_, response) => response.end())
    expect(await ask(scene.port, { headers: { ...BEARER, expect: 'wonders' } })).toMatchObject({
      status: 417,
    })
    expect(scene.seen).toEqual([])
  })
})

describe('a response', () => {
  it.each([
    ['HEAD', 200, { 'content-length': '1000' }],
    ['GET', 204, {}],
    ['GET', 304, { etag: '"x"' }],
    ['DELETE', 200, { 'content-length': '0' }],
  ])('to %s with status %i has no body', async (method, status, headers) => {
    scene = await startScene((_, response) => response.writeHead(status, headers).end())
    const answer = await ask(scene.port, { method })
    expect(answer).toMatchObject({ status, text: '' })
    for (const [name, value] of Object.entries(headers)) {
      expect(answer.headers[name]).toEqual([value])
    }
  })

  it('that is a stream is forwarded as it is written', async () => {
    const streams: http.ServerResponse[] = []
    scene = await startScene((_, response) => {
      response.flushHeaders()
      streams.push(response)
    })
    const response = await send(scene.port, { path: '/api/v1/pods?watch=1' })
    response.setEncoding('utf8')
    for (const event of ['one\n', 'two\n', 'three\n']) {
      streams[0]?.write(event)
      expect(await once(response, 'data')).toEqual([event])
    }
    expect(scene.proxy.open).toBe(1)
    streams[0]?.end()
    await once(response, 'end')
  })

  it.each([{}, { 'content-length': '100' }])(
    'that breaks off (%j) is not completed',
    async (headers) => {
      scene = await startScene(({ socket }, response) => {
        response.writeHead(200, headers).write('half')
        setTimeout(() => socket.destroy(), 20)
      })
      const response = await send(scene.port)
      await expect(readAll(response)).rejects.toMatchObject({ code: 'ECONNRESET' })
    },
  )

  it('of 401 is forwarded unchanged if no newer credential helps', async () => {
    scene = await startScene((_, response) => response.writeHead(401).end('{"code":401}'))
    expect(await ask(scene.port)).toMatchObject({ status: 401, text: '{"code":401}' })
    expect(scene.notes[0]).not.toHaveProperty('rejectedFor')
  })
})

describe('back-pressure', () => {
  it('from a client that does not read pauses the server', async () => {
    let written = 0
    const stuck = withResolvers<void>()
    scene = await startScene((_, response) => {
      const pour = (): void => {
        while (response.write(MEGABYTE)) written += 1
        written += 1
        const timer = setTimeout(() => stuck.resolve(), 300)
        response.once('drain', () => {
          clearTimeout(timer)
          pour()
        })
      }
      pour()
    })
    const response = await send(scene.port)
    response.pause()
    await stuck.promise
    expect(written).toBeLessThan(64)
    response.destroy()
  })

  it('from a server that does not read pauses the client', async () => {
    scene = await startScene((request) => void request.pause())
    const request = http.request({
      host: '127.0.0.1',
      port: scene.port,
      method: 'POST',
      headers: BEARER,
    })
    request.on('error', () => {})
    let written = 0
    await new Promise<void>((resolve) => {
      const pour = (): void => {
        while (request.write(MEGABYTE)) written += 1
        written += 1
        const timer = setTimeout(resolve, 300)
        request.once('drain', () => {
          clearTimeout(timer)
          pour()
        })
      }
      pour()
    })
    expect(written).toBeLessThan(64)
    request.destroy()
  })
})

describe('a client that disconnects', () => {
  it.each(['before the response', 'during the response'])('%s ends the request', async (when) => {
    const arrived = withResolvers<IncomingMessage>()
    scene = await startScene((request, response) => {
      if (when !== 'before the response') response.write('begin')
      arrived.resolve(request)
    })
    const socket = net.connect(scene.port, '127.0.0.1')
    socket.write(head(scene.port, 'GET /api HTTP/1.1'))
    const { socket: upstream } = await arrived.promise
    if (when !== 'before the response') await once(socket, 'data')
    socket.destroy()
    await once(upstream, 'close')
    await expect.poll(() => scene.proxy.open).toBe(0)
    expect(scene.notes).toMatchObject([{ status: when === 'before the response' ? 0 : 200 }])
  })

  it('while sending a body ends the request', async () => {
    const arrived = withResolvers<IncomingMessage>()
    scene = await startScene((request) => arrived.resolve(request))
    const socket = net.connect(scene.port, '127.0.0.1')
    socket.write(head(scene.port, 'POST /api HTTP/1.1', 'Transfer-Encoding: chunked'))
    socket.write('3\r\nabc\r\n')
    const { socket: upstream } = await arrived.promise
    socket.destroy()
    // It also emits an error, with which `once` would reject.
    await new Promise((resolve) => upstream.once('close', resolve))
    await expect.poll(() => scene.notes).toMatchObject([{ status: 0 }])
  })
})
