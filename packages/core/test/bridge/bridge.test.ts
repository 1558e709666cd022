import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import { createAgent } from 'kubecred/https'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { Bridge, destinationOf } from '../../src/bridge/bridge.ts'
import { LINE } from '../../src/request/line.ts'
import { type PlainServer, startPlainServer, TOKEN } from '../adapters/https/plain-server.ts'
import { readText, request } from '../adapters/https/request.ts'
import { withResolvers } from '../adapters/https/with-resolvers.ts'

let plain: PlainServer
afterEach(() => plain[Symbol.asyncDispose]())

async function start(listener: RequestListener) {
  plain = await startPlainServer(listener)
  return createAgent(plain.cluster)
}

/** Opens a connection over a bridge, for a client that writes raw bytes. */
function connectRaw(): Duplex {
  const line = plain.cluster[LINE]
  return new Bridge(() => line).connect(
    destinationOf('https:', { host: '127.0.0.1', port: new URL(plain.url).port }),
  )
}

describe('a client that disconnects', () => {
  it('before the response ends the request at the server', async () => {
    const arrived = withResolvers<IncomingMessage>()
    const agent = await start((received) => arrived.resolve(received))
    const sent = https.get(plain.url, { agent })
    const failed = once(sent, 'error')
    const received = await arrived.promise
    const gone = once(received.socket, 'close')
    sent.destroy(new Error('enough'))
    expect(await failed).toMatchObject([{ message: 'enough' }])
    await gone
  })

  it('while it reads ends the response at the server', async () => {
    const gone = withResolvers<boolean>()
    const agent = await start((_, response) => {
      response.write('begin')
      response.once('close', () => gone.resolve(response.writableFinished))
    })
    const response = await request(plain.url, agent, { path: '/' })
    await once(response, 'data')
    response.destroy()
    expect(await gone.promise).toBe(false)
  })

  it('while it sends ends the request at the server', async () => {
    const gone = withResolvers<boolean>()
    const agent = await start((received) => {
      received.once('data', () => sent.destroy())
      received.on('error', () => gone.resolve(received.complete))
    })
    const sent = https.request(plain.url, { agent, method: 'POST' })
    sent.on('error', () => {})
    sent.write('begin')
    expect(await gone.promise).toBe(false)
  })

  it('by half-closing ends the request at the server', async () => {
    const arrived = withResolvers<IncomingMessage>()
    await start((received) => arrived.resolve(received))
    const raw = connectRaw()
    raw.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const { socket } = await arrived.promise
    raw.end()
    await once(socket, 'close')
  })
})

describe('a server that breaks off', () => {
  it.each([
    ['in chunks', {}, 'destroy'],
    ['with its length', { 'content-length': '100' }, 'destroy'],
    ['in chunks', {}, 'end'],
    ['with its length', { 'content-length': '100' }, 'end'],
  ] as const)('an answer %s (%o, %s) is seen as that, never as an end', async (_, headers, how) => {
    const agent = await start(({ socket }, response) => {
      response.writeHead(200, headers)
      response.write('half')
      setTimeout(() => socket[how](), 20)
    })
    const response = await request(plain.url, agent, { path: '/' })
    const ended = withResolvers<string>()
    response.once('end', () => ended.resolve('end'))
    response.once('error', () => ended.resolve('error'))
    response.resume()
    expect(await ended.promise).toBe('error')
    expect(response.complete).toBe(false)
  })

  it('before the response causes our error', async () => {
    const agent = await start(({ socket }) => socket.destroy())
    await expect(request(plain.url, agent, { path: '/', method: 'POST' })).rejects.toMatchObject({
      code: 'ERR_SERVER_UNREACHABLE',
    })
  })

  it('because the cluster is closed causes ERR_CLOSED in open responses', async () => {
    const agent = await start((_, response) => void response.write('begin'))
    const sent = https.get(plain.url, { agent })
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    await once(response, 'data')
    const error = once(sent, 'error')
    const cut = once(response, 'error')
    await plain.cluster.close()
    expect(await error).toMatchObject([{ code: 'ERR_CLOSED' }])
    await cut
    await expect(request(plain.url, agent, { path: '/' })).rejects.toMatchObject({
      code: 'ERR_CLOSED',
    })
  })
})

describe('a request over the bridge:', () => {
  it.each(['//x', '//other.example/x', '/a/../b', '/a/./b?c=%2e%2e', '/%2f?', '/\\x'])(
    'the path %s reaches our server unchanged',
    async (path) => {
      const agent = await start(({ url, headers }, response) =>
        response.end(JSON.stringify([url, headers.authorization])),
      )
      const response = await request(plain.url, agent, { path: '/' }, { path })
      expect(JSON.parse(await readText(response))).toEqual([path, `Bearer ${TOKEN}`])
    },
  )

  it.each([
    ['OPTIONS', '*'],
    ['GET', 'https://other.example/x'],
    ['CONNECT', 'other.example:443'],
  ])('%s %s is rejected, and nothing is sent', async (method, path) => {
    let requests = 0
    const agent = await start((_, response) => {
      requests += 1
      response.end()
    })
    const sent = request(plain.url, agent, { path: '/', method }, { path })
    await expect(sent).rejects.toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
    expect(requests).toBe(0)
  })

  it('pipelined requests are answered in order', async () => {
    await start(({ url }, response) => {
      setTimeout(() => response.end(`answer to ${url}`), url === '/1' ? 50 : 0)
    })
    const raw = connectRaw()
    raw.write(
      'GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    )
    const text = await readText(raw)
    expect(text.match(/answer to \/\d/g)).toEqual(['answer to /1', 'answer to /2'])
  })

  it.each([
    ['something that is not HTTP', 'hello?\r\n\r\n'],
    [
      'a body longer than its Content-Length',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nab\r\n\r\n',
    ],
    [
      'a chunk without a size',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n',
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('%s ends the connection with the parser’s error', async (_, bytes) => {
    await start(() => {})
    const raw = connectRaw()
    raw.resume()
    const failed = once(raw, 'error', { signal: AbortSignal.timeout(10_000) })
    raw.write(bytes)
    const [error] = await failed
    expect((error as { code: string }).code).toMatch(/^HPE_/)
  })
})

describe('a DELETE whose body has no length', () => {
  it('fails and is not sent: without its body it would delete something else', async () => {
    let requests = 0
    const agent = await start((_, response) => {
      requests += 1
      response.end()
    })
    const sent = request(plain.url, agent, { path: '/', method: 'DELETE', body: '{}' })
    await expect(sent).rejects.toThrow('a body needs the header Content-Length')
    expect(requests).toBe(0)
  })
})

describe('a bridge', () => {
  it('does not keep the process alive', async () => {
    await start((_, response) => response.end())
    const before = process.getActiveResourcesInfo().length
    const raw = connectRaw()
    expect(process.getActiveResourcesInfo()).toHaveLength(before)
    raw.destroy()
  })

  const requests = inject('isLong') ? 10_000 : 2000
  it(`leaks nothing in ${requests} requests`, {
    timeout: 120_000,
  }, async () => {
    const agent = await start((_, response) => response.end('x'))
    const send = async (count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent += 20) {
        const batch = Array.from({ length: 20 }, async (_, index) => {
          const response = await request(plain.url, agent, { path: '/' })
          // Including those that are not read completely.
          if (index === 0) response.destroy()
          else await readText(response)
        })
        await Promise.all(batch)
      }
    }
    await send(1000)
    const before = await usedHeap()
    await send(requests)
    expect((await usedHeap()) - before).toBeLessThan(4 * 1024 * 1024)
    expect(Object.keys(agent.sockets)).toEqual([])
    const idle = Object.values(agent.freeSockets).flat()
    expect(idle.length).toBeLessThanOrEqual(64)
    for (const socket of idle) {
      const counts = socket?.eventNames().map((name) => socket.listenerCount(name)) ?? []
      expect(Math.max(...counts)).toBeLessThan(5)
    }
  })
})

async function usedHeap(): Promise<number> {
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let turns = 0; turns < 5; turns += 1) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}
