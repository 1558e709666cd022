import type { Server, ServerOptions } from 'node:http'

/** How much a proxy takes of its clients. */
export interface ProxyLimits {
  /** Connections at once. Beyond that, the one that is idle for longest is closed for a new one. */
  readonly connections?: number
  /** Of one request: its line and its headers. */
  readonly headerBytes?: number
  /** How long a client may take to send them; a TLS handshake may take as long again. */
  readonly headersTimeoutMs?: number
  /** How long a connection is kept that is not used. */
  readonly idleMs?: number
  /** Requests that a client may send on one connection before the first is answered. */
  readonly pipelined?: number
}

/** As many streams as one identity may have open, and short requests beside them. */
const CONNECTIONS = 1_100
/** Arguments of `exec` are in the request's line, so more than Node's 16 KiB. */
const HEADER_BYTES = 64 * 1024
const HEADERS_TIMEOUT_MS = 10_000
/** Go keeps a connection for 90 s, and tries again when it finds it closed. */
const IDLE_MS = 90_000
/** Hardly any client sends more than one. */
const PIPELINED = 16

/** @throws {TypeError} Names the limit that is not a whole number above zero. */
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

/** Options for `http.createServer` or `https.createServer`: what cannot be changed any more afterwards. */
export function serverOptions(
  limits?: ProxyLimits,
): ServerOptions & { readonly handshakeTimeout: number } {
  const { headerBytes, headersTimeoutMs, idleMs } = readLimits(limits)
  return {
    // Also where the process was started with a flag that says otherwise.
    insecureHTTPParser: false,
    maxHeaderSize: headerBytes,
    headersTimeout: headersTimeoutMs,
    // An upload may take its time: whoever sends it has shown the secret.
    requestTimeout: 0,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(Math.ceil(headersTimeoutMs / 4), 5_000),
    handshakeTimeout: headersTimeoutMs,
    // So that a client whose machine has gone is noticed under a watch without events.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    noDelay: true,
  }
}

/** Sets on a server what can be set later, whatever it was made with. */
export function applyLimits(server: Server, limits: Required<ProxyLimits>): void {
  const { insecureHTTPParser, maxHeaderSize } = serverOptions(limits)
  // Node reads both for each connection, but does not say so in its types.
  Object.assign(server, { insecureHTTPParser, maxHeaderSize })
  server.headersTimeout = limits.headersTimeoutMs
  server.requestTimeout = 0
  server.keepAliveTimeout = limits.idleMs
  server.timeout = 0
  // Beyond a count, Node would leave headers away without a word; their bytes are limited anyway.
  server.maxHeadersCount = 0
}
