import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyFailedError } from '../errors/index.ts'
import { hostAndPort, type Login, type ProxyServer } from './proxy-server.ts'
import { readReply, type Taken } from './read-reply.ts'
import type { Address } from './sockets.ts'

const MOST_HEAD_BYTES = 64 * 1024
const BEGINNING = 'HTTP/1.'
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/

/** Asks an HTTP proxy for a connection to the server (RFC 9110, section 9.3.6). */
export async function openConnectTunnel(
  socket: Socket,
  proxy: ProxyServer,
  server: Address,
): Promise<void> {
  const to = hostAndPort(server.host, server.port)
  const login = proxy.login === undefined ? '' : `Proxy-Authorization: ${basic(proxy.login)}\r\n`
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`)
  const status = await readReply(socket, proxy, (bytes) => takeHead(bytes, proxy))
  if (status < 200 || status > 299) throw refusal(status, to, proxy)
}

function basic({ user, password }: Login): string {
  return `Basic ${Buffer.from(`${user.expose()}:${password.expose()}`).toString('base64')}`
}

/** Only the status counts: what a proxy says in headers and words may repeat our password. */
function takeHead(bytes: Buffer, { label }: ProxyServer): Taken<number> | undefined {
  const beginning = bytes.toString('latin1', 0, BEGINNING.length)
  if (!BEGINNING.startsWith(beginning)) {
    throw new ProxyFailedError(label, 'did not answer in HTTP', {
      hint: 'Check scheme and port of the proxy: it may be a SOCKS5 proxy, or want https://.',
    })
  }
  const end = bytes.subarray(0, MOST_HEAD_BYTES).indexOf('\r\n\r\n')
  if (end === -1) {
    if (bytes.length < MOST_HEAD_BYTES) return undefined
    throw new ProxyFailedError(label, 'answered with more than 64 KiB of headers')
  }
  const status = STATUS_LINE.exec(bytes.toString('latin1', 0, end + 2))?.[1]
  if (status === undefined) throw new ProxyFailedError(label, 'answered with a broken status line')
  return { value: Number(status), length: end + 4 }
}

function refusal(
  status: number,
  to: string,
  { label, login, from }: ProxyServer,
): ProxyFailedError {
  // tinyproxy answers 407 to nobody, and 401 to somebody with the wrong password.
  if (status === 407 || status === 401) {
    return new ProxyFailedError(
      label,
      login === undefined
        ? `wants a user and a password (${status})`
        : `did not accept the user and the password (${status})`,
      { hint: `Check the user and password in ${from}: scheme://USER:PASSWORD@HOST:PORT.` },
    )
  }
  const words = STATUS_CODES[status]
  const shown = words === undefined ? status : `${status} ${words}`
  return new ProxyFailedError(label, `gave no connection to ${to}: it answered ${shown}`)
}
