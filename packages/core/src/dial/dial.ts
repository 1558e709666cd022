import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { CertificatePair } from '../credential/credential.ts'
import { isCredentialError, ProxyFailedError, SignedTooLateError } from '../errors/index.ts'
import { certificateAlert } from '../tls/alert.ts'
import { explainNetworkError, sayUnreachable } from './network-errors.ts'
import type { ProxyServer } from './proxy.ts'
import { DialLimit, wrapSigned } from './signed-tls.ts'
import { type Address, named, opened, startTcp, startTls, timedOut, wrap } from './start-socket.ts'
import { addressOf, type Target } from './target.ts'
import { openConnectTunnel, openSocks5Tunnel } from './tunnels.ts'

const CONNECT_TIMEOUT_MS = 30_000

export interface DialOptions {
  readonly signal?: AbortSignal | undefined
  /** For everything together: TCP, proxy and TLS. While somebody signs, it does not count. */
  readonly timeoutMs?: number
  /** What to offer the server by ALPN: HTTP/1.1 unless told. */
  readonly protocols?: readonly string[]
  /** Throws when a connection is of no use, before a signing key is asked to sign for it. */
  readonly beforeSigning?: (socket: TLSSocket) => void
}

/**
 * Opens one connection to the server: directly or through its proxy, then TLS with the identity's certificate.
 *
 * No TLS session is ever kept or resumed: a resumed session keeps the identity it began with, also under
 * a new certificate. When it fails or is aborted, nothing stays open.
 *
 * @throws {ProxyFailedError} The proxy failed, not the server.
 */
export async function dial(
  target: Target,
  certificate: CertificatePair | undefined,
  options: DialOptions = {},
): Promise<Socket> {
  try {
    return await dialOnce(target, certificate, options)
  } catch (error) {
    // A person took longer than the server waits. What they unlocked is unlocked now: once more, and it will do.
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
  // Node is faster when TLS has the connection to itself, hence not always the one over the other.
  const socket =
    proxy === undefined && secured && !isSigned
      ? startTls({ ...server, ...secured })
      : startTcp(proxy ?? server)
  const abort = (): void => void socket.destroy(new Error('aborted'))
  const limit = new DialLimit(timeoutMs, () => socket.destroy(timedOut()))
  const secure = (way: Socket, options: ConnectionOptions): Promise<Socket> =>
    isSigned
      ? wrapSigned(way, options, certificate, { limit, signal, beforeSigning })
      : wrap(way, options)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    if (proxy === undefined) {
      const open = await opened(socket, secured && !isSigned ? 'secureConnect' : 'connect')
      return secured && isSigned ? await secure(open, secured) : open
    }
    const way = await passProxy(socket, proxy, server).catch(blame(proxy))
    return secured ? await secure(way, secured).catch(explainBehind(proxy, target)) : way
  } catch (error) {
    socket.destroy()
    throw signal?.aborted ? signal.reason : error
  } finally {
    limit.stop()
    signal?.removeEventListener('abort', abort)
  }
}

/** How the server is checked and what we show it; undefined for plain http. */
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
    ...named(tls.serverName ?? addressOf(target).host),
  }
}

async function passProxy(socket: Socket, proxy: ProxyServer, server: Address): Promise<Socket> {
  await opened(socket, 'connect')
  if (proxy.scheme === 'socks5') {
    await openSocks5Tunnel(socket, proxy, server)
    return socket
  }
  // The cluster's CA, its insecure flag and our certificate are between us and the server, not for the proxy.
  const secured = { rejectUnauthorized: true, ...named(proxy.host) }
  const way = proxy.scheme === 'https' ? await wrap(socket, secured) : socket
  await openConnectTunnel(way, proxy, server)
  return way
}

/** Says that it was the proxy, and where its address came from. */
function blame(proxy: ProxyServer): (cause: unknown) => never {
  return (cause) => {
    if (isCredentialError(cause)) throw cause
    const { code = '' } = cause as { code?: string }
    if (/CERT|ISSUER|SIGNATURE/.test(code)) {
      throw new ProxyFailedError(proxy.label, `has a certificate that is not accepted (${code})`, {
        hint: 'Name a file with the CA of the proxy in NODE_EXTRA_CA_CERTS.',
        cause,
      })
    }
    throw new ProxyFailedError(proxy.label, `gave no connection: ${sayUnreachable(cause)}`, {
      hint: `Check ${proxy.from}: it is the proxy that could not be reached, not the server.`,
      cause,
    })
  }
}

/** The server failed, or the proxy meddled with what it should only have passed on. */
function explainBehind(proxy: ProxyServer, { origin }: Target): (cause: unknown) => never {
  return (cause) => {
    // An alert is for the credential: who sends the request decides about it. Signers explain themselves.
    if (certificateAlert(cause) !== undefined || isCredentialError(cause)) throw cause
    throw explainNetworkError(cause, origin, {
      hint: `Check the proxy ${proxy.label} from ${proxy.from} too: it must pass TLS on as it is.`,
    })
  }
}
