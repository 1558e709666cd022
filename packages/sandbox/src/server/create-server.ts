import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TlsOptions } from 'node:tls'
import type { Incoming, Outgoing } from './exchange.ts'

/** The protocols of a server. Without `tls` it is plain HTTP/1.1. */
export interface Protocols {
  readonly tls?: TlsOptions
  /** Offers HTTP/2 in addition to HTTP/1.1; only over TLS, as kube-apiserver. */
  readonly http2: boolean
}

/** The listeners of a server. */
export interface Listeners {
  readonly onRequest: (request: Incoming, response: Outgoing) => void
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

// Tests may use slow clients, so there are no timeouts.
const NO_TIMEOUTS = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 }
// The limit of kube-apiserver for one connection.
const MAX_STREAMS = 100

/** Creates a server that does not listen yet. */
export function createServer(protocols: Protocols, listeners: Listeners): Server {
  const server = create(protocols)
  server.on('request', listeners.onRequest)
  server.on('upgrade', listeners.onUpgrade)
  return server
}

function create({ tls, http2 }: Protocols): Server {
  if (tls === undefined) return createHttpServer(NO_TIMEOUTS)
  if (!http2) return createHttpsServer({ ...tls, ...NO_TIMEOUTS })
  const settings = { maxConcurrentStreams: MAX_STREAMS }
  const server = createSecureServer({ ...tls, allowHTTP1: true, settings })
  // The HTTP/2 server has no such options, but it honours the fields.
  return Object.assign(server, NO_TIMEOUTS, { requireHostHeader: true })
}
