import type { Agent } from 'node:http'
import type { Duplex } from 'node:stream'
import { Bridge } from '../../transport/bridge.ts'
import { bridgeAgent } from '../../transport/bridge-agent.ts'
import type { Line } from '../../transport/line.ts'

/** Where requests go. */
export interface Passages {
  line(): Line | Promise<Line>
  /** Notes that a request is on the way. Returns how to say that it is over. */
  hold(): () => void
}

/** An agent that sends over a line. It knows of each request when it begins and when it is over. */
export function passageAgent(passages: Passages, protocol: 'http:' | 'https:'): Agent {
  const bridge = new Bridge(() => passages.line())
  const agent = bridgeAgent(bridge, protocol, { keepAlive: true })
  const { createConnection, keepSocketAlive, reuseSocket } = agent
  const releases = new WeakMap<Duplex, () => void>()
  const end = (connection: Duplex): void => releases.get(connection)?.()
  agent.createConnection = (options, callback) => {
    const connection = createConnection.call(agent, options, callback)
    if (!connection) return connection
    releases.set(connection, passages.hold())
    return connection.once('close', () => end(connection))
  }
  // Node calls these when a connection is done with a request, and when it is given another.
  agent.keepSocketAlive = (connection) => {
    end(connection)
    return keepSocketAlive.call(agent, connection)
  }
  agent.reuseSocket = (connection, request) => {
    releases.set(connection, passages.hold())
    reuseSocket.call(agent, connection, request)
  }
  return agent
}
