import http from 'node:http'
import https from 'node:https'
import type { Bridge, Destination } from './bridge.ts'

export interface BridgeAgentOptions {
  /**
   * Uses a connection for one request after another, which saves a third of the cost of a request.
   * Without it, a connection ends with its answer.
   */
  readonly keepAlive?: boolean
}

/** Idle connections cost a little memory and nothing else; as many as short requests go out at once. */
const MOST_IDLE = 64

/** An agent of Node whose connections lead over a bridge. */
export function bridgeAgent(
  bridge: Bridge,
  protocol: Destination['protocol'],
  { keepAlive = false }: BridgeAgentOptions = {},
): http.Agent {
  const Agent = protocol === 'https:' ? https.Agent : http.Agent
  const agent = new Agent({ keepAlive, maxFreeSockets: MOST_IDLE })
  agent.createConnection = (options) => bridge.connect(destinationOf(protocol, options))
  return agent
}

/** Where a request of Node's client is meant to go. */
export function destinationOf(
  protocol: Destination['protocol'],
  { host, hostname, port }: { host?: unknown; hostname?: unknown; port?: unknown },
): Destination {
  return {
    protocol,
    host: String(host ?? hostname ?? 'localhost').replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  }
}
