import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** The headers that a client may read or print. */
const HEADERS = [
  'x-echo',
  'warning',
  'www-authenticate',
  'retry-after',
  'server',
  'content-language',
]

/**
 * Starts a server that echoes everything it receives: in the body, in headers, in the status text and in the close
 * reasons of WebSockets; unchanged, percent-encoded and in base64.
 *
 * The first segment of the path selects the response: a status, `garbage`, `torn` or `person`.
 */
export async function startEchoServer(identity: {
  readonly key: string
  readonly certificate: string
}): Promise<{ readonly url: string; close(): void }> {
  const { key, certificate: cert } = identity
  const server: Server = createServer({ key, cert }, answer)
  server.on('upgrade', upgrade)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The credentials that were sent, in every form. */
function echoes({ headers, rawHeaders }: IncomingMessage): readonly string[] {
  const { authorization = 'nothing' } = headers
  const credential = authorization.replace(/^\w+ /, '')
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const password = Buffer.from(credential, 'base64')
    .toString('latin1')
    .replace(/^[^:]*:/, '')
  return [
    authorization,
    encodeURIComponent(authorization),
    base64(authorization),
    base64(`{"seen":"${credential}"}`),
    Buffer.from(`of ${credential}`).toString('base64url'),
    ...(headers.authorization?.startsWith('Basic ') ? [password] : []),
    rawHeaders.join(' '),
  ].map((text) => text.replace(/[^\x20-\x7e]/g, ' '))
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const all = echoes(request)
  const how = request.url?.split('/')[1] ?? ''
  const status = { garbage: 200, torn: 200, person: 201 }[how] ?? Number(how)
  for (const name of HEADERS) response.setHeader(name, all.join(' '))
  response.setHeader('location', `/elsewhere?${all.map(encodeURIComponent).join('&')}`)
  response.setHeader('content-type', 'application/json')
  response.writeHead(status, all.join(' '))
  if (how === 'garbage') response.end(all.join(' '))
  else if (how === 'torn') response.write(all.join(' '), () => response.destroy())
  else response.end(JSON.stringify(how === 'person' ? review(all) : refusal(all, status)))
}

function review(all: readonly string[]): object {
  const [username] = all
  return { status: { userInfo: { username, uid: all[1], groups: all, extra: { all } } } }
}

function refusal(all: readonly string[], code: number): object {
  return {
    kind: 'Status',
    status: 'Failure',
    message: `no: ${all.join(' ')}`,
    reason: all[0],
    code,
  }
}

/** Rejects the upgrade with all of them, or opens a WebSocket and closes it with all of them as the reason. */
function upgrade(request: IncomingMessage, socket: Duplex): void {
  const all = echoes(request)
  const how = request.url?.split('/')[1] ?? ''
  socket.on('error', () => {})
  if (how !== 'person') {
    const body = JSON.stringify(refusal(all, 403))
    const head = [
      `HTTP/1.1 403 ${all.join(' ')}`,
      `content-length: ${body.length}`,
      'connection: close',
    ]
    socket.end(
      `${[...head, ...HEADERS.map((name) => `${name}: ${all.join(' ')}`)].join('\r\n')}\r\n\r\n${body}`,
    )
    return
  }
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  const head = ['HTTP/1.1 101 Switching', 'upgrade: websocket', 'connection: upgrade']
  socket.write(
    `${[...head, `sec-websocket-accept: ${accept}`, `x-echo: ${all[0]}`].join('\r\n')}\r\n\r\n`,
  )
  // A reason has at most 123 bytes (RFC 6455, section 5.5).
  const reason = Buffer.from(all[0]?.slice(0, 123) ?? '')
  socket.end(Buffer.concat([Buffer.from([0x88, 2 + reason.length, 0x03, 0xf0]), reason]))
}
