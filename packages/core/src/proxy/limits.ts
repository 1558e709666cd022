import type { Server, ServerOptions } from 'node:http'

/** Limits that a proxy applies to its clients. */
export interface ProxyLimits {
  /** Open connections. At the limit, a new connection replaces the one that has been idle the longest. By default 1100. */
  readonly connections?: number
  /** Size of the request line and headers of one request. By default 64 KiB. */
  readonly headerBytes?: number
  /** Time to receive the request line and headers, and again as much for a TLS handshake. By default 10 s. */
  readonly headersTimeoutMs?: number
  /** How long an idle connection is kept. By default 90 s. */
  readonly idleMs?: number
  /** Pipelined requests per connection, including the one in progress. By default 16. */
  readonly pipelined?: number
}

/** Enough for the streams that one identity may have open, and for short requests beside them. */
const CONNECTIONS = 1_100
/** More than Node's 16 KiB, because the arguments of `exec` are in the request line. */
const HEADER_BYTES = 64 * 1024
const HEADERS_TIMEOUT_MS = 10_000
/** As Go, which keeps a connection for 90 s and retries if it finds it closed. */
const IDLE_MS = 90_000
/** Few clients pipeline at all. */
const PIPELINED = 16

/**
 * Checks the limits and adds the defaults.
 *
 * @throws {TypeError} If a limit is not a whole number above 0; the message names it.
 */
export function readLimits(limits: ProxyLimits = {}): Required<ProxyLimits> {
  const read = {
    connections: limits.connections ?? CONNECTIONS,
    headerBytes: limits.headerBytes ?? HEADER_BYTES,
    headersTimeoutMs: limits.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
    idleMs: limits.idleMs ?? IDLE_MS,
    pipelined: limits.pipelined ?? PIPELINED,
  }
  for (const [name, value] of Object.entries(read)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new TypeError(`limits.${name} must be a whole number above 0, not ${String(value)}`)
  }
  return read
}

/**
 * Returns options for `http.createServer` or `https.createServer`: the settings that cannot be changed later.
 *
 * @throws {TypeError} If a limit is not a whole number above 0; the message names it.
 *
 * @example
 * const server = createServer(serverOptions({ connections: 100 }))
 */
export function serverOptions(
  limits?: ProxyLimits,
): ServerOptions & { readonly handshakeTimeout: number } {
  const { headerBytes, headersTimeoutMs, idleMs } = readLimits(limits)
  return {
    // Even if the process was started with --insecure-http-parser.
    insecureHTTPParser: false,
    maxHeaderSize: headerBytes,
    headersTimeout: headersTimeoutMs,
    // An upload may take any time: its client is authenticated.
    requestTimeout: 0,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(Math.ceil(headersTimeoutMs / 4), 5_000),
    handshakeTimeout: headersTimeoutMs,
    // Detects a client that has disappeared during a watch without events.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    noDelay: true,
  }
}

/** Applies the limits that can be changed on an existing server. */
export function applyLimits(server: Server, limits: Required<ProxyLimits>): void {
  const { insecureHTTPParser, maxHeaderSize } = serverOptions(limits)
  // Node reads both for each connection, although its types do not declare them.
  Object.assign(server, { insecureHTTPParser, maxHeaderSize })
  server.headersTimeout = limits.headersTimeoutMs
  server.requestTimeout = 0
  server.keepAliveTimeout = limits.idleMs
  server.timeout = 0
  // With a limit, Node would silently drop headers beyond it. Their size is limited anyway.
  server.maxHeadersCount = 0
}
