import { IncomingMessage } from 'node:http'
import { WebSocketServer } from 'ws'
import type { ResourceCall } from '../api/call.ts'
import type { Upgrade } from '../server/exchange.ts'
import { StatusError } from '../server/status.ts'
import { Channels } from './channels.ts'
import { echoSpdy } from './echo-spdy.ts'

/** What serves an upgraded connection. */
export interface StreamServer {
  /** The WebSocket subprotocols that it supports, best first. */
  readonly protocols: readonly string[]
  serve(channels: Channels): void
}

const WEBSOCKET_VERSION = '13'

/**
 * Upgrades a client's connection.
 *
 * Must be called after all other checks: afterwards no HTTP error can be sent.
 *
 * @throws {StatusError} The request is not an upgrade, or asks for an unsupported protocol.
 */
export function acceptUpgrade(call: ResourceCall, streamServer: StreamServer): 'streaming' {
  const { request, upgrade } = call
  // Only HTTP/1.1 has upgrades; over HTTP/2 kube-apiserver answers the same.
  if (upgrade === undefined || !(request instanceof IncomingMessage)) throw upgradeRequired()
  const wanted = request.headers.upgrade?.toLowerCase()
  if (wanted === 'websocket') acceptWebSocket(request, upgrade, streamServer)
  else if (wanted === 'spdy/3.1') echoSpdy(request, upgrade)
  else throw upgradeRequired()
  return 'streaming'
}

function acceptWebSocket(
  request: IncomingMessage,
  upgrade: Upgrade,
  streamServer: StreamServer,
): void {
  const { headers } = request
  const key = headers['sec-websocket-key'] ?? ''
  const isValid = request.method === 'GET' && /^[+/0-9A-Za-z]{22}==$/.test(key)
  if (!isValid || headers['sec-websocket-version'] !== WEBSOCKET_VERSION) {
    throw new StatusError('BadRequest', 'not a WebSocket handshake of version 13')
  }
  const protocol = chooseProtocol(headers['sec-websocket-protocol'], streamServer.protocols)
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: () => protocol,
  })
  server.handleUpgrade(request, upgrade.take(), upgrade.head, (socket) => {
    streamServer.serve(new Channels(socket))
  })
}

/** Chooses the subprotocol. A client that offers none gets none, and the framing of `channel.k8s.io`. */
function chooseProtocol(header: string | undefined, supported: readonly string[]): string {
  if (header === undefined) return ''
  const offered = header.split(',').map((name) => name.trim())
  const chosen = supported.find((name) => offered.includes(name))
  if (chosen !== undefined) return chosen
  // The same error as the kubelet's, including the 403.
  throw new StatusError(
    'Forbidden',
    `requested protocol(s) are not supported: [${offered.join(' ')}]; supports [${supported.join(' ')}]`,
  )
}

function upgradeRequired(): StatusError {
  return new StatusError('BadRequest', 'Upgrade request required')
}
