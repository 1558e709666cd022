import { BlockList, isIP, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { type CredentialError, KubeconfigInvalidError, NotSupportedError } from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import { tryParseUrl } from '../formats/server-url.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { Secret } from '../secret/secret.ts'

/** A proxy through which the server is reached. */
export interface ProxyServer {
  readonly scheme: 'http' | 'https' | 'socks5'
  /** A host name or an IP address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  readonly login: Login | undefined
  /** `http://host:port` for messages, without user and password. */
  readonly label: string
  /** Where the URL is configured: `proxy-url`, or the name of the environment variable. */
  readonly from: string
}

/** The user and password for a proxy. */
export interface Login {
  readonly user: Secret
  readonly password: Secret
}

const DEFAULT_PORTS: Readonly<Record<ProxyServer['scheme'], number>> = {
  http: 80,
  https: 443,
  socks5: 1080,
}

/** RFC 1929 has one byte for the length of the user, and one for that of the password. */
const MAX_SOCKS_FIELD_BYTES = 255

/**
 * Parses the URL of a proxy.
 *
 * @param from Where it is configured; errors name it instead of the URL, which may contain a password.
 * @throws {KubeconfigInvalidError | NotSupportedError} The URL cannot be used.
 */
export function parseProxyUrl(address: Secret, from: string): ProxyServer {
  const url = tryParseUrl(address.expose())
  const scheme = url?.protocol.slice(0, -1)
  if (url === undefined || !isScheme(scheme) || url.hostname === '') {
    throw unusable(from, 'is not an http, https or socks5 URL')
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port)
  const login = readLogin(url, from)
  if (scheme === 'socks5' && login !== undefined && !fitsSocks(login)) {
    throw unusable(
      from,
      'has a user or password of more than 255 bytes, which is the limit of SOCKS5',
    )
  }
  const label = `${scheme}://${hostAndPort(host, port)}`
  return { scheme, host, port, login, label, from }
}

/** Returns `host:port`, with brackets around an IPv6 address. */
export function hostAndPort(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

/** Returns a key that is equal for equal proxies and logins; it is a digest, so that it reveals no password. */
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
    throw unusable(from, 'has a user or password with an invalid percent-encoding')
  }
}

function fitsSocks({ user, password }: Login): boolean {
  return [user, password].every((part) => Buffer.byteLength(part.expose()) <= MAX_SOCKS_FIELD_BYTES)
}

function unusable(from: string, what: string): CredentialError {
  const hint = `Write ${from} as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT; in user and password, write % as %25 and @ as %40.`
  return from === 'proxy-url'
    ? new KubeconfigInvalidError([`proxy-url ${what}`], { hint })
    : new NotSupportedError(`the environment variable ${from} ${what}`, { hint })
}

/**
 * Returns the proxy for a server from the environment, by the rules of Go's httpproxy.
 *
 * HTTPS_PROXY applies to https servers, HTTP_PROXY to http servers, NO_PROXY to both; upper case takes precedence over
 * lower case. Servers on localhost are reached directly.
 *
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED`: the variable is not the URL of a proxy. Go ignores it silently,
 *   which could send the request over a network that the user wants to avoid.
 */
export function proxyFromEnvironment(server: string, env: Environment): ProxyServer | undefined {
  const { protocol, hostname, port } = new URL(server)
  const isHttps = protocol === 'https:'
  const named = firstOf(
    isHttps ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'],
    env,
  )
  if (named === undefined) return undefined
  if (!isHttps && env['REQUEST_METHOD']) throw rejectInCgi(named.name)
  const destination = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (isHttps ? 443 : 80)),
  }
  const noProxy = firstOf(['NO_PROXY', 'no_proxy'], env)?.value ?? ''
  if (isLoopback(destination) || isExempt(destination, noProxy)) return undefined
  return parseProxyUrl(new Secret(withScheme(named.value)), named.name)
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

/** In a CGI program, HTTP_PROXY may be set by the `Proxy` header of an untrusted request (httpoxy). */
function rejectInCgi(name: string): NotSupportedError {
  return new NotSupportedError(`the environment variable ${name} is not used in a CGI program`, {
    hint: 'Set proxy-url in the cluster entry of the kubeconfig.',
  })
}

/** A server to match against NO_PROXY. */
interface Destination {
  /** In lower case; IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

/**
 * Whether a list such as `10.0.0.0/8,.corp.example,api.example:6443` matches the server.
 *
 * Syntax and meaning are those of Go's httpproxy, so that kubectl and kubecred use the same route.
 */
function isExempt(destination: Destination, noProxy: string): boolean {
  return noProxy.split(',').some((entry) => matches(entry.trim().toLowerCase(), destination))
}

/** Whether the server is on localhost, for which a proxy from the environment is never used. */
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
  // An address with a zone, such as fe80::1%eth0, matches no server.
  if (name.includes('%')) return false
  if (isIP(name) !== 0) return isWithin(destination.host, name, isIP(name) === 4 ? 32 : 128)
  return isName(destination.host, name)
}

/** Splits `host:port` and `[IPv6]:port`; an IPv6 address without brackets has no port. */
function split(entry: string): { name: string; port: string } {
  const [, bracketed, plain, port = ''] = /^(?:\[(.*)\]|([^:[\]]*)):([^:]*)$/.exec(entry) ?? []
  const name = bracketed ?? plain
  return name === undefined ? { name: entry, port: '' } : { name, port }
}

/** `example.com` matches itself and its subdomains, `.example.com` and `*.example.com` only the subdomains. */
function isName(host: string, name: string): boolean {
  if (isIP(host) !== 0) return false
  const isSubdomainOnly = name.startsWith('.') || name.startsWith('*.')
  const bare = name.replace(/^\*?\./, '')
  const ascii = /^[\x20-\x7e]*$/.test(bare) ? bare : domainToASCII(bare)
  if (ascii === '') return false
  return host.endsWith(`.${ascii}`) || (!isSubdomainOnly && host === ascii)
}

function isPrefix(network: string, bits: number): boolean {
  const family = isIP(network)
  return family !== 0 && bits <= (family === 4 ? 32 : 128)
}

function isWithin(host: string, network: string, bits: number): boolean {
  return familyOf(host) === familyOf(network) && isInside(host, network, bits)
}

/** Treats an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) as IPv4. */
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
