import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TlsOptions } from 'node:tls'
import type { Incoming, Outgoing } from './exchange.ts'

/** Which protocols a server speaks. Without `tls` it is plain HTTP/1.1. */
export interface Protocols {
  readonly tls?: TlsOptions
  /** Offers HTTP/2 beside HTTP/1.1; only over TLS, as kube-apiserver. */
  readonly http2: boolean
}

/** Who is called when a client wants something. */
export interface Listeners {
  readonly onRequest: (request: Incoming, response: Outgoing) => void
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

// Slow clients are something to test with, not something to defend against.
const PATIENCE = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 }
// What kube-apiserver allows at the same time on one connection.
const MAX_STREAMS = 100

/** Makes a server that does not listen yet. */
export function createServer(protocols: Protocols, listeners: Listeners): Server {
  const server = create(protocols)
  server.on('request', listeners.onRequest)
  server.on('upgrade', listeners.onUpgrade)
  return server
}

function create({ tls, http2 }: Protocols): Server {
  if (tls === undefined) return createHttpServer(PATIENCE)
  if (!http2) return createHttpsServer({ ...tls, ...PATIENCE })
  const settings = { maxConcurrentStreams: MAX_STREAMS }
  const server = createSecureServer({ ...tls, allowHTTP1: true, settings })
  // The options of HTTP/1.1 are not options here, but the fields work.
  return Object.assign(server, PATIENCE, { requireHostHeader: true })
}
