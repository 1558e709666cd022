import { once } from 'node:events'
import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  connect as connectHttp2,
  createServer as createHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import { Agent, request } from 'node:https'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { Agent as UndiciAgent, request as undiciRequest } from 'undici'
import { describe, expect, it } from 'vitest'
import { listen } from '../fixtures/proxies.ts'
import {
  dialSigned,
  echo,
  server as identity,
  type Listening,
  openTcp,
  startServer,
} from './tls-server.ts'

const MEGABYTE = 2 ** 20
const UPLOAD = Buffer.alloc(3 * MEGABYTE, 'up')
const DOWNLOAD = Buffer.alloc(50 * MEGABYTE, 'down')

type Request = IncomingMessage | Http2ServerRequest
type Response = ServerResponse | Http2ServerResponse

/** Responds with the CN of the client and the size of the request body, or with 50 MB for /big. */
async function answer(request: Request, response: Response): Promise<void> {
  const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject
  const got = await buffer(request)
  const isWhole = got.length === 0 || got.equals(UPLOAD)
  const body = request.url === '/big' ? DOWNLOAD : Buffer.from(`${CN} ${got.length} ${isWhole}`)
  ;(response as ServerResponse).end(body)
}

async function startHttp(): Promise<Listening> {
  const [http1, http2] = [createHttp1(answer), createHttp2(answer)]
  return startServer({ ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    const http = socket.alpnProtocol === 'h2' ? http2 : http1
    http.emit('connection', socket)
  })
}

/** Sends a request and returns the response body. */
type Send = (path: string, body?: Buffer) => Promise<Buffer>

const CLIENTS: Record<string, (port: number) => Promise<{ send: Send; close(): void }>> = {
  async 'node:https'(port) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    // Node's types do not include the callback form of createConnection.
    Object.assign(agent, {
      createConnection(_: unknown, done: (error: Error | null, socket?: Socket) => void) {
        dialSigned(port).then((socket) => done(null, socket), done)
      },
    })
    const send: Send = async (path, body) => {
      const method = body ? 'POST' : 'GET'
      const sent = request({ agent, host: 'localhost', path, method })
      sent.end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return buffer(response)
    }
    return { send, close: () => agent.destroy() }
  },

  async 'node:http2'(port) {
    const socket = await dialSigned(port, { tls: { ALPNProtocols: ['h2'] } })
    const session = connectHttp2('https://localhost', { createConnection: () => socket })
    expect([session.alpnProtocol ?? 'h2', session.encrypted ?? true]).toEqual(['h2', true])
    const send: Send = async (path, body) => {
      const stream = session.request({ ':path': path, ':method': body ? 'POST' : 'GET' })
      stream.end(body)
      return buffer(stream)
    }
    return { send, close: () => session.destroy() }
  },

  undici: (port) => openUndici(port, false),
  'undici over HTTP/2': (port) => openUndici(port, true),
}

async function openUndici(port: number, allowH2: boolean) {
  const ALPNProtocols = [allowH2 ? 'h2' : 'http/1.1']
  const dispatcher = new UndiciAgent({
    allowH2,
    connections: 1,
    connect: (_, done) => {
      dialSigned(port, { tls: { ALPNProtocols } }).then(
        (socket) => done(null, socket),
        (error: Error) => done(error, null),
      )
    },
  })
  const send: Send = async (path, body = undefined) => {
    const method = body ? 'POST' : 'GET'
    const options = { dispatcher, method, body: body ?? null } as const
    const answered = await undiciRequest(`https://localhost:${port}${path}`, options)
    return Buffer.from(await answered.body.arrayBuffer())
  }
  return { send, close: () => void dispatcher.destroy() }
}

describe.each(Object.entries(CLIENTS))('%s', (_, open) => {
  it('sends small and large requests over one signed connection', async () => {
    await using server = await startHttp()
    const { send, close } = await open(server.port)
    expect(String(await send('/'))).toBe('jane 0 true')
    expect(String(await send('/', UPLOAD))).toBe(`jane ${UPLOAD.length} true`)
    expect((await send('/big')).equals(DOWNLOAD)).toBe(true)
    expect(String(await send('/'))).toBe('jane 0 true')
    expect(server.seen).toHaveLength(1)
    close()
  })
})

it('a signed connection works inside a TLS connection to a proxy', async () => {
  await using server = await startServer()
  const tls = { certificate: identity.chain, key: identity.key }
  await using proxy = await listen(
    async (socket) => {
      const onward = await openTcp(server.port)
      onward.on('error', () => {}).on('close', () => socket.destroy())
      socket.pipe(onward).pipe(socket)
    },
    { tls },
  )
  const way = connectTls({ port: proxy.port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(way, 'secureConnect')
  const socket = await dialSigned(server.port, { socket: way })
  expect(await echo(socket, 'hello')).toBe('hello')
  expect(socket.remotePort).toBe(proxy.port)
  expect(server.seen[0]?.authorized).toBe(true)
  const closed = once(way, 'close')
  socket.destroy()
  await closed
})
