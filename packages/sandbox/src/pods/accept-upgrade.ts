import { IncomingMessage } from 'node:http'
import { WebSocketServer } from 'ws'
import type { ResourceCall } from '../api/call.ts'
import type { Upgrade } from '../server/exchange.ts'
import { StatusError } from '../server/status.ts'
import { Channels } from './channels.ts'
import { echoSpdy } from './echo-spdy.ts'

/** What is behind an upgraded connection. */
export interface Behind {
  /** The WebSocket subprotocols that it speaks, the best first. */
  readonly protocols: readonly string[]
  serve(channels: Channels): void
}

const WEBSOCKET_VERSION = '13'

/**
 * Gives a client's connection to something behind the API server.
 *
 * Everything that could be refused is refused before, with an answer in HTTP.
 */
export function acceptUpgrade(call: ResourceCall, behind: Behind): 'streaming' {
  const { request, upgrade } = call
  // Only HTTP/1.1 has upgrades; over HTTP/2 kube-apiserver answers the same.
  if (upgrade === undefined || !(request instanceof IncomingMessage)) throw upgradeRequired()
  const wanted = request.headers.upgrade?.toLowerCase()
  if (wanted === 'websocket') acceptWebSocket(request, upgrade, behind)
  else if (wanted === 'spdy/3.1') echoSpdy(request, upgrade)
  else throw upgradeRequired()
  return 'streaming'
}

function acceptWebSocket(request: IncomingMessage, upgrade: Upgrade, behind: Behind): void {
  const { headers } = request
  const key = headers['sec-websocket-key'] ?? ''
  const isGood = request.method === 'GET' && /^[+/0-9A-Za-z]{22}==$/.test(key)
  if (!isGood || headers['sec-websocket-version'] !== WEBSOCKET_VERSION) {
    throw new StatusError('BadRequest', 'not a WebSocket handshake of version 13')
  }
  const protocol = chooseProtocol(headers['sec-websocket-protocol'], behind.protocols)
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: () => protocol,
  })
  server.handleUpgrade(request, upgrade.take(), upgrade.head, (socket) => {
    behind.serve(new Channels(socket))
  })
}

/** A client that offers nothing gets nothing, and the framing of `channel.k8s.io`. */
function chooseProtocol(header: string | undefined, supported: readonly string[]): string {
  if (header === undefined) return ''
  const offered = header.split(',').map((name) => name.trim())
  const chosen = supported.find((name) => offered.includes(name))
  if (chosen !== undefined) return chosen
  // The kubelet's answer, 403 included.
  throw new StatusError(
    'Forbidden',
    `requested protocol(s) are not supported: [${offered.join(' ')}]; supports [${supported.join(' ')}]`,
  )
}

function upgradeRequired(): StatusError {
  return new StatusError('BadRequest', 'Upgrade request required')
}
