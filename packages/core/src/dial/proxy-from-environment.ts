import { NotSupportedError } from '../errors/index.ts'
import { Secret } from '../secret/secret.ts'
import { isExempt, isLoopback } from './no-proxy.ts'
import { type ProxyServer, readProxy } from './proxy-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

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
