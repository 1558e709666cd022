import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createAgent } from 'kubecred/https'
import { afterEach, describe, expect, it } from 'vitest'
import { type PlainServer, startPlainServer, TOKEN } from '../adapters/https/plain-server.ts'
import { readText } from '../adapters/https/request.ts'
import { withResolvers } from '../adapters/https/with-resolvers.ts'

let plain: PlainServer
afterEach(() => plain[Symbol.asyncDispose]())

type OnUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void

async function start(onUpgrade: OnUpgrade): Promise<void> {
  plain = await startPlainServer((_, response) => response.end('ordinary'))
  plain.server.on('upgrade', onUpgrade)
}

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n'

/** Requests SPDY as kubectl does. */
function ask(method = 'POST', headers = {}) {
  return https.request(`${plain.url}/exec`, {
    agent: createAgent(plain.cluster),
    method,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', ...headers },
  })
}

async function upgraded(
  request: ReturnType<typeof ask>,
): Promise<{ response: IncomingMessage; socket: Duplex; head: Buffer }> {
  const [response, socket, head] = (await once(request.end(), 'upgrade')) as [
    IncomingMessage,
    Duplex,
    Buffer,
  ]
  return { response, socket, head }
}

describe('an upgrade', () => {
  it('returns the connection, with the bytes that arrived with the response', async () => {
    await start(({ headers }, socket, head) => {
      socket.write(
        `${SWITCH}X-Who: ${headers.authorization}\r\nX-More: 1\r\nX-More: 2\r\n\r\nfirst,`,
      )
      socket.unshift(head)
      socket.on('data', (data) => socket.write(`echo ${data}`))
    })
    const { response, socket, head } = await upgraded(ask())
    expect(response.statusCode).toBe(101)
    expect(response.headers).toMatchObject({ upgrade: 'SPDY/3.1', connection: 'Upgrade' })
    expect(response.headersDistinct).toMatchObject({
      'x-who': [`Bearer ${TOKEN}`],
      'x-more': ['1', '2'],
    })
    let text = head.toString()
    socket.on('data', (data) => {
      text += data
    })
    socket.write('hello')
    await expect.poll(() => text).toBe('first,echo hello')
    socket.destroy()
  })

  it('is not harmed by headers with the names of object members', async () => {
    await start((_, socket) => {
      const odd = ['__proto__: a', '__proto__: b', 'constructor: c', 'toString: d', 'valueOf: e']
      socket.write(`${SWITCH}${odd.join('\r\n')}\r\n\r\nhello`)
    })
    const { response, socket, head } = await upgraded(ask())
    expect(response.headers).toMatchObject({ tostring: 'd', valueof: 'e' })
    expect(response.rawHeaders).not.toContain('__proto__')
    let text = head.toString()
    socket.on('data', (data) => {
      text += data
    })
    await expect.poll(() => text).toBe('hello')
    socket.destroy()
  })

  it('can be half-closed: the other side can still send', async () => {
    await start((_, socket) => {
      socket.write(`${SWITCH}\r\n`)
      let heard = ''
      socket.on('data', (data) => {
        heard += data
      })
      socket.once('end', () => socket.end(`heard ${heard}`))
    })
    const { socket } = await upgraded(ask())
    socket.end('all of it')
    expect(await readText(socket)).toBe('heard all of it')
  })

  it.each([
    ['client', (client: Duplex, _: Socket) => client.destroy()],
    ['server', (_: Duplex, server: Socket) => server.destroy()],
    [
      'server, after the client has ended',
      (client: Duplex, server: Socket) => {
        client.end()
        server.once('end', () => server.destroy())
        server.resume()
      },
    ],
    [
      'client, after it has ended',
      (client: Duplex, server: Socket) => {
        client.end(() => client.destroy())
        server.resume()
      },
    ],
  ] as const)('ends on both sides when the %s goes away', async (_, leave) => {
    const taken = withResolvers<Socket>()
    await start((_request, socket) => {
      socket.on('error', () => {})
      socket.write(`${SWITCH}\r\n`)
      taken.resolve(socket)
    })
    const { socket } = await upgraded(ask())
    const server = await taken.promise
    const ends = [socket.resume(), server]
    const gone = ends.map((end) => new Promise((resolve) => end.once('close', resolve)))
    leave(socket, server)
    await Promise.all(gone)
  })

  it('that the server ignores returns the ordinary response', async () => {
    plain = await startPlainServer(({ method }, response) => response.end(`ordinary ${method}`))
    const [response] = (await once(ask('GET').end(), 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    expect(await readText(response)).toBe('ordinary GET')
  })

  it.each([200, 403, 500])(
    'that gets status %i returns that response with its body',
    async (status) => {
      await start((_, socket) => {
        socket.end(`HTTP/1.1 ${status} Grund\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 4\r\n\r\nbody`)
      })
      const [response] = (await once(ask().end(), 'response')) as [IncomingMessage]
      expect([response.statusCode, response.statusMessage]).toEqual([status, 'Grund'])
      expect(response.headersDistinct['x-a']).toEqual(['1', '2'])
      expect(await readText(response)).toBe('body')
    },
  )

  it('that gets a large response returns all of it, even to a slow reader', async () => {
    await start((_, socket) => {
      socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 3000000\r\n\r\n')
      socket.end(Buffer.alloc(3_000_000, 'x'))
    })
    const [response] = (await once(ask().end(), 'response')) as [IncomingMessage]
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await readText(response)).toHaveLength(3_000_000)
  })

  it('that gets a response that breaks off fails, and does not return a truncated one', async () => {
    await start((_, socket) => {
      socket.end('HTTP/1.1 500 Oh\r\nContent-Length: 10\r\n\r\nhalf')
    })
    const [response] = (await once(
      ask()
        .on('error', () => {})
        .end(),
      'response',
    )) as [IncomingMessage]
    await expect(readText(response)).rejects.toThrow()
  })

  it('that gets no response fails with our error', async () => {
    await start((_, socket) => socket.destroy())
    await expect(once(ask().end(), 'response')).rejects.toMatchObject({
      code: 'ERR_SERVER_UNREACHABLE',
    })
  })

  it('that is aborted leaves no connection open', async () => {
    const taken = withResolvers<Socket>()
    await start((_, socket) => taken.resolve(socket))
    const asked = ask().on('error', () => {})
    asked.end()
    const socket = await taken.promise
    asked.destroy()
    await once(socket, 'close')
  })

  it('ends with an error when the cluster is closed', async () => {
    await start((_, socket) => {
      socket.on('error', () => {})
      socket.write(`${SWITCH}\r\n`)
    })
    const { socket } = await upgraded(ask())
    const error = once(socket, 'error')
    await plain.cluster.close()
    expect(await error).toMatchObject([{ code: 'ERR_CLOSED' }])
  })
})
