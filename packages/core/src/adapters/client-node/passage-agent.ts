import type { Agent } from 'node:http'
import type { Duplex } from 'node:stream'
import { Bridge } from '../../bridge/bridge.ts'
import { bridgeAgent } from '../../bridge/bridge-agent.ts'
import type { Line } from '../../request/line.ts'

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
  return refuseToBeCopied(agent)
}

/** What programs copy from an agent to connect by themselves. */
const COPIED = ['ca', 'cert', 'key', 'pfx']

/**
 * Makes reading TLS settings of the agent an error.
 *
 * The settings and the credential stay with the line. A program that copied them would connect without both, and
 * fail with "unable to verify the first certificate" or a 401, far away from the cause.
 */
function refuseToBeCopied(agent: Agent): Agent {
  const { options } = agent as Agent & { readonly options: object }
  for (const name of COPIED) {
    // Not enumerable: Node copies the options of an agent for every request.
    Object.defineProperty(options, name, {
      get() {
        throw new TypeError(
          `the agent of attach() has no "${name}" to copy: send the request with this agent, or with cluster.fetch() of kubecred or createDispatcher() of kubecred/undici, or start the program with "kubecred run"`,
        )
      },
    })
  }
  return agent
}
