import { STATUS_CODES } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { ProxyFailedError } from '../errors/index.ts'
import { hostAndPort, type Login, type ProxyServer } from './proxy.ts'
import type { Address } from './start-socket.ts'

// Why this is not undici's (compared with version 7.30): every transport needs the socket, and ProxyAgent does not
// expose it. `Client.connect` does, but would load undici for all transports, rejects a head of more than 16 KiB, and
// its errors do not name the proxy. Socks5ProxyAgent is experimental and prints a warning, loses bytes that arrive with
// the reply, waits 5 seconds if the proxy closes or omits the address in an error reply, and sends no login without a
// password.

const MAX_HEAD_BYTES = 64 * 1024
const HTTP_1 = 'HTTP/1.'
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/

/** Opens a tunnel to the server with CONNECT (RFC 9110, section 9.3.6). */
export async function openConnectTunnel(
  socket: Socket,
  proxy: ProxyServer,
  server: Address,
): Promise<void> {
  const to = hostAndPort(server.host, server.port)
  const login = proxy.login === undefined ? '' : `Proxy-Authorization: ${basic(proxy.login)}\r\n`
  socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${login}\r\n`)
  const status = await readReply(socket, proxy, (bytes) => parseHead(bytes, proxy))
  if (status < 200 || status > 299) throw statusError(status, to, proxy)
}

function basic({ user, password }: Login): string {
  return `Basic ${Buffer.from(`${user.expose()}:${password.expose()}`).toString('base64')}`
}

/** Parses the response head. Only the status is used: headers and reason phrase may echo the password. */
function parseHead(bytes: Buffer, { label }: ProxyServer): Parsed<number> | undefined {
  const start = bytes.toString('latin1', 0, HTTP_1.length)
  if (!HTTP_1.startsWith(start)) {
    throw new ProxyFailedError(label, 'did not respond with HTTP', {
      hint: 'Check scheme and port of the proxy: it may be a SOCKS5 proxy, or need https://.',
    })
  }
  const end = bytes.subarray(0, MAX_HEAD_BYTES).indexOf('\r\n\r\n')
  if (end === -1) {
    if (bytes.length < MAX_HEAD_BYTES) return undefined
    throw new ProxyFailedError(label, 'responded with more than 64 KiB of headers')
  }
  const status = STATUS_LINE.exec(bytes.toString('latin1', 0, end + 2))?.[1]
  if (status === undefined)
    throw new ProxyFailedError(label, 'responded with a malformed status line')
  return { value: Number(status), length: end + 4 }
}

function statusError(
  status: number,
  to: string,
  { label, login, from }: ProxyServer,
): ProxyFailedError {
  // tinyproxy responds with 407 to a request without a login, and with 401 to a wrong password.
  if (status === 407 || status === 401) {
    return new ProxyFailedError(
      label,
      login === undefined
        ? `requires a user and password (${status})`
        : `rejected the user and password (${status})`,
      { hint: `Check the user and password in ${from}: scheme://USER:PASSWORD@HOST:PORT.` },
    )
  }
  const phrase = STATUS_CODES[status]
  const shown = phrase === undefined ? status : `${status} ${phrase}`
  return new ProxyFailedError(label, `did not connect to ${to}: it answered ${shown}`)
}

const VERSION = 5
const NO_LOGIN = 0
const WITH_LOGIN = 2
const LOGIN_VERSION = 1
const CONNECT = 1
const IPV4 = 1
const NAME = 3
const IPV6 = 4

/** Reply codes (RFC 1928, section 6). */
const REPLIES: readonly string[] = [
  'granted',
  'general failure',
  'its rules do not allow it',
  'the network is unreachable',
  'the host is unreachable',
  'connection refused',
  'it timed out',
  'it does not support CONNECT',
  'it does not support this type of address',
]

/**
 * Opens a tunnel to the server with SOCKS5 (RFC 1928, login by RFC 1929).
 *
 * The proxy resolves host names: they are often known only in its network.
 */
export async function openSocks5Tunnel(
  socket: Socket,
  proxy: ProxyServer,
  server: Address,
): Promise<void> {
  const address = encodeAddress(server.host)
  if (address === undefined) {
    throw new ProxyFailedError(proxy.label, 'does not support host names of more than 255 bytes')
  }
  await negotiateLogin(socket, proxy)
  socket.write(Buffer.from([VERSION, CONNECT, 0, ...address, server.port >> 8, server.port & 255]))
  const reply = await readReply(socket, proxy, (bytes) => parseReply(bytes, proxy))
  if (reply === 0) return
  const to = hostAndPort(server.host, server.port)
  const reason = REPLIES[reply] ?? `code ${reply}`
  throw new ProxyFailedError(proxy.label, `did not connect to ${to}: ${reason}`)
}

async function negotiateLogin(socket: Socket, proxy: ProxyServer): Promise<void> {
  const { login } = proxy
  const methods = login === undefined ? [NO_LOGIN] : [NO_LOGIN, WITH_LOGIN]
  socket.write(Buffer.from([VERSION, methods.length, ...methods]))
  const method = await readReply(socket, proxy, (bytes) => parsePair(bytes, VERSION, proxy))
  if (method === NO_LOGIN) return
  if (method !== WITH_LOGIN || login === undefined) {
    const what =
      login === undefined ? 'requires a user and password' : 'does not support a user and password'
    throw badLogin(proxy, what)
  }
  socket.write(encodeLogin(login))
  const status = await readReply(socket, proxy, (bytes) => parsePair(bytes, LOGIN_VERSION, proxy))
  if (status !== 0) throw badLogin(proxy, 'rejected the user and password')
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

/** Encodes type and bytes of an address; returns undefined for a name that is too long. */
function encodeAddress(host: string): readonly number[] | undefined {
  const family = isIP(host)
  if (family === 4) return [IPV4, ...host.split('.').map(Number)]
  if (family === 6) return [IPV6, ...ipv6Bytes(host)]
  const name = Buffer.from(host)
  return name.length > 255 ? undefined : [NAME, name.length, ...name]
}

function ipv6Bytes(host: string): readonly number[] {
  // The URL parser normalizes an address to hexadecimal groups, also one that ends with IPv4.
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

function parsePair(bytes: Buffer, version: number, proxy: ProxyServer): Parsed<number> | undefined {
  checkVersion(bytes, version, proxy)
  const value = bytes[1]
  return value === undefined ? undefined : { value, length: 2 }
}

/** Parses a reply. It includes the bound address, whose length depends on its type; the address is not used. */
function parseReply(bytes: Buffer, proxy: ProxyServer): Parsed<number> | undefined {
  checkVersion(bytes, VERSION, proxy)
  const [, value = 0, , type, nameLength] = bytes
  // Some proxies omit the address in an error reply.
  if (bytes.length >= 2 && value !== 0) return { value, length: bytes.length }
  if (type === undefined || nameLength === undefined) return undefined
  const length = 4 + addressLength(type, nameLength, proxy) + 2
  return bytes.length < length ? undefined : { value, length }
}

function addressLength(type: number, nameLength: number, { label }: ProxyServer): number {
  if (type === IPV4) return 4
  if (type === IPV6) return 16
  if (type === NAME) return 1 + nameLength
  throw new ProxyFailedError(label, `responded with an address of the unknown type ${type}`)
}

function checkVersion([first]: Buffer, expected: number, { label }: ProxyServer): void {
  if (first === undefined || first === expected) return
  throw new ProxyFailedError(label, 'did not respond with SOCKS5', {
    hint: 'Check scheme and port of the proxy: it may be an HTTP proxy.',
  })
}

/** A complete reply at the start of the received bytes, and its length. */
interface Parsed<T> {
  readonly value: T
  readonly length: number
}

/**
 * Reads from a proxy until its reply is complete. Bytes after it stay in the socket.
 *
 * @param parse Returns undefined while the reply is incomplete; throws if it is invalid.
 */
function readReply<T>(
  socket: Socket,
  proxy: ProxyServer,
  parse: (bytes: Buffer) => Parsed<T> | undefined,
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
      fail(new ProxyFailedError(proxy.label, 'closed the connection before it responded'))
    }
    const read = (): void => {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) return
      bytes = Buffer.concat([bytes, chunk])
      try {
        const parsed = parse(bytes)
        if (parsed === undefined) return
        leave()
        if (parsed.length < bytes.length) socket.unshift(bytes.subarray(parsed.length))
        resolve(parsed.value)
      } catch (error) {
        fail(error)
      }
    }
    socket.on('readable', read).on('error', fail).on('end', end).on('close', end)
  })
}
