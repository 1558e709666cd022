import { BlockList, isIP, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { type CredentialError, KubeconfigInvalidError, NotSupportedError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import { tryParseUrl } from '../formats/server-url.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { Secret } from '../secret/secret.ts'

/** A proxy on the way to the server. */
export interface ProxyServer {
  readonly scheme: 'http' | 'https' | 'socks5'
  /** A name or an address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  readonly login: Login | undefined
  /** `http://host:port`, for people: without user and password. */
  readonly label: string
  /** Where the address is written: `proxy-url`, or the name of the environment variable. */
  readonly from: string
}

export interface Login {
  readonly user: Secret
  readonly password: Secret
}

const DEFAULT_PORTS: Readonly<Record<ProxyServer['scheme'], number>> = {
  http: 80,
  https: 443,
  socks5: 1080,
}

/** RFC 1929 counts user and password in one byte each. */
const LONGEST_SOCKS_LOGIN = 255

/**
 * Reads the address of a proxy.
 *
 * @param from Where it is written; errors name it in place of the address, which may hold a password.
 */
export function readProxy(address: Secret, from: string): ProxyServer {
  const url = tryParseUrl(address.expose())
  const scheme = url?.protocol.slice(0, -1)
  if (url === undefined || !isScheme(scheme) || url.hostname === '') {
    throw unusable(from, 'is no http, https or socks5 address')
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port)
  const login = readLogin(url, from)
  if (scheme === 'socks5' && login !== undefined && !fitsSocks(login)) {
    throw unusable(from, 'has a user or password of more than 255 bytes, the limit of SOCKS5')
  }
  const label = `${scheme}://${hostAndPort(host, port)}`
  return { scheme, host, port, login, label, from }
}

/** `host:port`, with brackets where the host is an IPv6 address. */
export function hostAndPort(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

/** Equal for proxies that are the same to the server and to themselves, and nothing to learn from. */
export function proxyKey({ label, login }: ProxyServer): string {
  return nodeCrypto.digest(
    JSON.stringify([label, login?.user.expose() ?? null, login?.password.expose() ?? null]),
  )
}

function isScheme(text: string | undefined): text is ProxyServer['scheme'] {
  return text !== undefined && Object.hasOwn(DEFAULT_PORTS, text)
}

function readLogin({ username, password }: URL, from: string): Login | undefined {
  if (username === '' && password === '') return undefined
  try {
    return {
      user: new Secret(decodeURIComponent(username)),
      password: new Secret(decodeURIComponent(password)),
    }
  } catch {
    throw unusable(from, 'has a user or password with a % that begins no escape')
  }
}

function fitsSocks({ user, password }: Login): boolean {
  return [user, password].every((part) => Buffer.byteLength(part.expose()) <= LONGEST_SOCKS_LOGIN)
}

function unusable(from: string, what: string): CredentialError {
  const hint = `Write ${from} as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT; in user and password, % is %25, @ is %40.`
  return from === 'proxy-url'
    ? new KubeconfigInvalidError([`proxy-url ${what}`], { hint })
    : new NotSupportedError(`the environment variable ${from} ${what}`, { hint })
}

/**
 * Finds the proxy that the environment names for a server, by the rules of Go's httpproxy.
 *
 * HTTPS_PROXY counts for https servers, HTTP_PROXY for http servers, NO_PROXY for both; upper case
 * comes before lower case. Servers on this machine are reached directly.
 *
 * @throws {NotSupportedError} The variable holds no address of a proxy. Go goes round it silently; that
 * could show the request to a network somebody meant to avoid.
 */
export function proxyFromEnvironment(server: string, env: Environment): ProxyServer | undefined {
  const { protocol, hostname, port } = new URL(server)
  const isHttps = protocol === 'https:'
  const named = firstOf(
    isHttps ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'],
    env,
  )
  if (named === undefined) return undefined
  if (!isHttps && env['REQUEST_METHOD']) throw inCgi(named.name)
  const destination = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (isHttps ? 443 : 80)),
  }
  const noProxy = firstOf(['NO_PROXY', 'no_proxy'], env)?.value ?? ''
  if (isLoopback(destination) || isExempt(destination, noProxy)) return undefined
  return readProxy(new Secret(withScheme(named.value)), named.name)
}

function firstOf(
  names: readonly string[],
  env: Environment,
): { name: string; value: string } | undefined {
  for (const name of names) {
    const value = env[name]
    if (value) return { name, value }
  }
  return undefined
}

function withScheme(address: string): string {
  return address.includes('://') ? address : `http://${address}`
}

/** In a CGI program HTTP_PROXY may come from a header `ProxyServer:` of whoever sent the request. */
function inCgi(name: string): NotSupportedError {
  return new NotSupportedError(`the environment variable ${name} is not used in a CGI program`, {
    hint: 'Write the proxy into proxy-url of the cluster entry.',
  })
}

/** A server as NO_PROXY sees it. */
interface Destination {
  /** In lower case; IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

/**
 * Whether a list such as `10.0.0.0/8,.corp.example,api.example:6443` names the server.
 *
 * Every form and its meaning are those of Go's httpproxy, so that kubectl and we take the same way.
 */
function isExempt(destination: Destination, noProxy: string): boolean {
  return noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), destination))
}

/** Whether the server is on this machine: the environment's proxy is never asked for it. */
function isLoopback({ host }: Destination): boolean {
  return host === 'localhost' || isWithin(host, '127.0.0.0', 8) || isWithin(host, '::1', 128)
}

function matches(entry: string, destination: Destination): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  const [, network = '', bits = ''] = /^([^/]+)\/(\d+)$/.exec(entry) ?? []
  if (isPrefix(network, Number(bits))) return isWithin(destination.host, network, Number(bits))
  const { name, port } = split(entry)
  if (port !== '' && port !== String(destination.port)) return false
  // Addresses with a zone, such as fe80::1%eth0, name no server.
  if (name.includes('%')) return false
  if (isIP(name) !== 0) return isWithin(destination.host, name, isIP(name) === 4 ? 32 : 128)
  return isName(destination.host, name)
}

/** `host:port` and `[IPv6]:port` have a port; an IPv6 address without brackets has none. */
function split(entry: string): { name: string; port: string } {
  const [, bracketed, plain, port = ''] = /^(?:\[(.*)\]|([^:[\]]*)):([^:]*)$/.exec(entry) ?? []
  const name = bracketed ?? plain
  return name === undefined ? { name: entry, port: '' } : { name, port }
}

/** `example.com` means itself and everything below it, `.example.com` and `*.example.com` only what is below. */
function isName(host: string, name: string): boolean {
  if (isIP(host) !== 0) return false
  const isBelowOnly = name.startsWith('.') || name.startsWith('*.')
  const bare = name.replace(/^\*?\./, '')
  const ascii = /^[\x20-\x7e]*$/.test(bare) ? bare : domainToASCII(bare)
  if (ascii === '') return false
  return host.endsWith(`.${ascii}`) || (!isBelowOnly && host === ascii)
}

function isPrefix(network: string, bits: number): boolean {
  const family = isIP(network)
  return family !== 0 && bits <= (family === 4 ? 32 : 128)
}

function isWithin(host: string, network: string, bits: number): boolean {
  return familyOf(host) === familyOf(network) && isInside(host, network, bits)
}

/** An IPv4 address written as IPv6 (`::ffff:10.0.0.1`) counts as what it is. */
function familyOf(address: string): number {
  const family = isIP(address)
  return family === 6 && isInside(address, '::ffff:0:0', 96) ? 4 : family
}

function isInside(address: string, network: string, bits: number): boolean {
  if (isIP(address) === 0) return false
  const list = new BlockList()
  list.addSubnet(network, bits, isIP(network) === 4 ? 'ipv4' : 'ipv6')
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}
