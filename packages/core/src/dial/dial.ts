import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { CertificatePair } from '../credential/credential.ts'
import { isCredentialError, ProxyFailedError, SignedTooLateError } from '../errors/index.ts'
import { certificateAlert } from '../tls/alert.ts'
import { describeUnreachable, explainNetworkError } from './network-errors.ts'
import type { ProxyServer } from './proxy.ts'
import { DialTimeout, startSignedTls } from './signed-tls.ts'
import {
  type Address,
  serverNameOptions,
  startTcp,
  startTls,
  startTlsOver,
  timeoutError,
  waitForConnect,
} from './start-socket.ts'
import { addressOf, type Target } from './target.ts'
import { openConnectTunnel, openSocks5Tunnel } from './tunnels.ts'

const CONNECT_TIMEOUT_MS = 30_000

/** Options of {@link dial}. */
export interface DialOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit for TCP, proxy and TLS together. A longer limit applies while a signature is pending. */
  readonly timeoutMs?: number
  /** The ALPN protocols to offer; HTTP/1.1 by default. */
  readonly protocols?: readonly string[]
  /** Called before the signing key is used; throws to give up the connection. */
  readonly beforeSigning?: (socket: TLSSocket) => void
}

/**
 * Opens one connection to the server: directly or through its proxy, then TLS with the client certificate.
 *
 * TLS sessions are never resumed: a resumed session keeps the identity of the first handshake, even with a new
 * certificate. If it fails or is aborted, no socket stays open.
 *
 * @throws {ProxyFailedError} `ERR_PROXY_FAILED`: the proxy failed, not the server.
 */
export async function dial(
  target: Target,
  certificate: CertificatePair | undefined,
  options: DialOptions = {},
): Promise<Socket> {
  try {
    return await dialOnce(target, certificate, options)
  } catch (error) {
    // The user took longer than the server waits. The key is unlocked by now, so a second attempt is fast.
    if (error instanceof SignedTooLateError) return dialOnce(target, certificate, options)
    throw error
  }
}

async function dialOnce(
  target: Target,
  certificate: CertificatePair | undefined,
  { signal, timeoutMs = CONNECT_TIMEOUT_MS, protocols, beforeSigning }: DialOptions,
): Promise<Socket> {
  signal?.throwIfAborted()
  const { proxy } = target
  const server = addressOf(target)
  const secured = tlsOptionsFor(target, certificate, protocols)
  const isSigned = certificate?.signingKey !== undefined
  // tls.connect with an address is faster than TLS over a given socket, so it is used where possible.
  const socket =
    proxy === undefined && secured && !isSigned
      ? startTls({ ...server, ...secured })
      : startTcp(proxy ?? server)
  const abort = (): void => void socket.destroy(new Error('aborted'))
  const timeout = new DialTimeout(timeoutMs, () => socket.destroy(timeoutError()))
  const secure = (tunnel: Socket, options: ConnectionOptions): Promise<Socket> =>
    isSigned
      ? startSignedTls(tunnel, options, certificate, { timeout, signal, beforeSigning })
      : startTlsOver(tunnel, options)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    if (proxy === undefined) {
      const open = await waitForConnect(socket, secured && !isSigned ? 'secureConnect' : 'connect')
      return secured && isSigned ? await secure(open, secured) : open
    }
    const tunnel = await openTunnel(socket, proxy, server).catch(throwProxyError(proxy))
    return secured ? await secure(tunnel, secured).catch(throwServerError(proxy, target)) : tunnel
  } catch (error) {
    socket.destroy()
    throw signal?.aborted ? signal.reason : error
  } finally {
    timeout.stop()
    signal?.removeEventListener('abort', abort)
  }
}

/** Returns the TLS options for the server, with the client certificate; undefined for plain http. */
export function tlsOptionsFor(
  target: Target,
  certificate: CertificatePair | undefined,
  protocols?: readonly string[],
): ConnectionOptions | undefined {
  const { origin, tls } = target
  if (!origin.startsWith('https:')) return undefined
  return {
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(certificate?.key && { cert: certificate.chain, key: certificate.key.expose() }),
    rejectUnauthorized: !tls.insecure,
    ...(protocols && { ALPNProtocols: [...protocols] }),
    ...serverNameOptions(tls.serverName ?? addressOf(target).host),
  }
}

async function openTunnel(socket: Socket, proxy: ProxyServer, server: Address): Promise<Socket> {
  await waitForConnect(socket, 'connect')
  if (proxy.scheme === 'socks5') {
    await openSocks5Tunnel(socket, proxy, server)
    return socket
  }
  // The cluster's CA, insecure-skip-tls-verify and client certificate are for the server and not for the proxy.
  const secured = { rejectUnauthorized: true, ...serverNameOptions(proxy.host) }
  const tunnel = proxy.scheme === 'https' ? await startTlsOver(socket, secured) : socket
  await openConnectTunnel(tunnel, proxy, server)
  return tunnel
}

/** Throws an error that names the proxy and where its address is configured. */
function throwProxyError(proxy: ProxyServer): (cause: unknown) => never {
  return (cause) => {
    if (isCredentialError(cause)) throw cause
    const { code = '' } = cause as { code?: string }
    if (/CERT|ISSUER|SIGNATURE/.test(code)) {
      throw new ProxyFailedError(proxy.label, `has a certificate that is not trusted (${code})`, {
        hint: 'Set NODE_EXTRA_CA_CERTS to a file with the CA of the proxy.',
        cause,
      })
    }
    throw new ProxyFailedError(proxy.label, `cannot be reached: ${describeUnreachable(cause)}`, {
      hint: `Check ${proxy.from}: it is the proxy that could not be reached, not the server.`,
      cause,
    })
  }
}

/** Throws the error for a failed TLS handshake through a proxy: the server failed, or the proxy altered the bytes. */
function throwServerError(proxy: ProxyServer, { origin }: Target): (cause: unknown) => never {
  return (cause) => {
    // An alert may be a refusal, which the request layer handles. Errors of signers are already explained.
    if (certificateAlert(cause) !== undefined || isCredentialError(cause)) throw cause
    throw explainNetworkError(cause, origin, {
      hint: `Check the proxy ${proxy.label} from ${proxy.from} too: it must forward TLS unchanged.`,
    })
  }
}
