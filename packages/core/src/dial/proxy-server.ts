import { isIPv6 } from 'node:net'
import { type CredentialError, KubeconfigInvalidError, NotSupportedError } from '../errors/index.ts'
import { tryParse } from '../kubeconfig/server-url.ts'
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
  const url = tryParse(address.expose())
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
