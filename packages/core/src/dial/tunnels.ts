import { STATUS_CODES } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { ProxyFailedError } from '../errors/index.ts'
import { hostAndPort, type Login, type ProxyServer } from './proxy.ts'
import type { Address } from './start-socket.ts'

// Why not undici's, whose behaviour was compared with version 7.30. Every transport needs the socket, and ProxyAgent
// hands out none. `Client.connect` does, but loads undici for all of them, refuses a head of more than 16 KiB, and
// its errors name no proxy. Socks5ProxyAgent is experimental and warns about it, loses bytes that come with the reply,
// waits 5 seconds where the proxy closes or leaves the address out of a refusal, and sends no login without a password.

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

const VERSION = 5
const NO_LOGIN = 0
const WITH_LOGIN = 2
const LOGIN_VERSION = 1
const CONNECT = 1
const IPV4 = 1
const NAME = 3
const IPV6 = 4

const NO_WAY_TO_LOG_IN = 'accepts no user and password'

/** RFC 1928, section 6. */
const REFUSALS: readonly string[] = [
  'granted',
  'it failed',
  'its rules do not allow it',
  'the network is unreachable',
  'the host is unreachable',
  'connection refused',
  'it took too long',
  'it cannot connect on behalf of others',
  'it does not know this kind of address',
]

/**
 * Asks a SOCKS5 proxy for a connection to the server (RFC 1928, login by RFC 1929).
 *
 * The proxy resolves names: often it stands where they mean something, and we do not.
 */
export async function openSocks5Tunnel(
  socket: Socket,
  proxy: ProxyServer,
  server: Address,
): Promise<void> {
  const address = encodeAddress(server.host)
  if (address === undefined) {
    throw new ProxyFailedError(proxy.label, 'cannot be told a host name of more than 255 bytes')
  }
  await agreeOnLogin(socket, proxy)
  socket.write(Buffer.from([VERSION, CONNECT, 0, ...address, server.port >> 8, server.port & 255]))
  const reply = await readReply(socket, proxy, (bytes) => takeReply(bytes, proxy))
  if (reply === 0) return
  const to = hostAndPort(server.host, server.port)
  const reason = REFUSALS[reply] ?? `code ${reply}`
  throw new ProxyFailedError(proxy.label, `gave no connection to ${to}: ${reason}`)
}

async function agreeOnLogin(socket: Socket, proxy: ProxyServer): Promise<void> {
  const { login } = proxy
  const methods = login === undefined ? [NO_LOGIN] : [NO_LOGIN, WITH_LOGIN]
  socket.write(Buffer.from([VERSION, methods.length, ...methods]))
  const method = await readReply(socket, proxy, (bytes) => takePair(bytes, VERSION, proxy))
  if (method === NO_LOGIN) return
  if (method !== WITH_LOGIN || login === undefined) {
    const what = login === undefined ? 'wants a user and a password' : NO_WAY_TO_LOG_IN
    throw badLogin(proxy, what)
  }
  socket.write(encodeLogin(login))
  const status = await readReply(socket, proxy, (bytes) => takePair(bytes, LOGIN_VERSION, proxy))
  if (status !== 0) throw badLogin(proxy, 'did not accept the user and the password')
}

function badLogin({ label, from }: ProxyServer, what: string): ProxyFailedError {
  return new ProxyFailedError(label, what, {
    hint: `Check the user and password in ${from}: socks5://USER:PASSWORD@HOST:PORT.`,
  })
}

function encodeLogin({ user, password }: Login): Buffer {
  const parts = [user, password].map((part) => Buffer.from(part.expose()))
  return Buffer.concat([
    Buffer.from([LOGIN_VERSION]),
    ...parts.flatMap((part) => [Buffer.from([part.length]), part]),
  ])
}

/** Kind and bytes of an address; undefined for a name that does not fit. */
function encodeAddress(host: string): readonly number[] | undefined {
  const family = isIP(host)
  if (family === 4) return [IPV4, ...host.split('.').map(Number)]
  if (family === 6) return [IPV6, ...ipv6Bytes(host)]
  const name = Buffer.from(host)
  return name.length > 255 ? undefined : [NAME, name.length, ...name]
}

function ipv6Bytes(host: string): readonly number[] {
  // The URL parser writes every address in groups, also one with IPv4 at its end.
  const hex = new URL(`http://[${host}]`).hostname.slice(1, -1)
  const [head = '', tail] = hex.split('::')
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : [])
  const [before, after] = [groups(head), groups(tail)]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
}

function takePair(bytes: Buffer, version: number, proxy: ProxyServer): Taken<number> | undefined {
  checkVersion(bytes, version, proxy)
  const value = bytes[1]
  return value === undefined ? undefined : { value, length: 2 }
}

/** The reply repeats an address, whose length depends on its kind; it says nothing to us. */
function takeReply(bytes: Buffer, proxy: ProxyServer): Taken<number> | undefined {
  checkVersion(bytes, VERSION, proxy)
  const [, value = 0, , kind, nameLength] = bytes
  // After a refusal some proxies leave the address out.
  if (bytes.length >= 2 && value !== 0) return { value, length: bytes.length }
  if (kind === undefined || nameLength === undefined) return undefined
  const length = 4 + addressLength(kind, nameLength, proxy) + 2
  return bytes.length < length ? undefined : { value, length }
}

function addressLength(kind: number, nameLength: number, { label }: ProxyServer): number {
  if (kind === IPV4) return 4
  if (kind === IPV6) return 16
  if (kind === NAME) return 1 + nameLength
  throw new ProxyFailedError(label, `answered with an address of the unknown kind ${kind}`)
}

function checkVersion([first]: Buffer, expected: number, { label }: ProxyServer): void {
  if (first === undefined || first === expected) return
  throw new ProxyFailedError(label, 'did not answer in SOCKS5', {
    hint: 'Check scheme and port of the proxy: it may be an HTTP proxy.',
  })
}

/** A reply found at the beginning of what was read, and how many bytes it took. */
interface Taken<T> {
  readonly value: T
  readonly length: number
}

/**
 * Reads from a proxy until its reply is complete. What came behind it stays in the socket.
 *
 * @param take Gives undefined as long as more is needed, and throws when no more would help.
 */
function readReply<T>(
  socket: Socket,
  proxy: ProxyServer,
  take: (bytes: Buffer) => Taken<T> | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0)
    const leave = (): void => {
      socket.off('readable', read).off('error', fail).off('end', end).off('close', end)
    }
    const fail = (error: unknown): void => {
      leave()
      reject(error)
    }
    const end = (): void => {
      fail(new ProxyFailedError(proxy.label, 'closed the connection before it had answered'))
    }
    const read = (): void => {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) return
      bytes = Buffer.concat([bytes, chunk])
      try {
        const taken = take(bytes)
        if (taken === undefined) return
        leave()
        if (taken.length < bytes.length) socket.unshift(bytes.subarray(taken.length))
        resolve(taken.value)
      } catch (error) {
        fail(error)
      }
    }
    socket.on('readable', read).on('error', fail).on('end', end).on('close', end)
  })
}
