import type https from 'node:https'
import { Bridge } from '../../bridge/bridge.ts'
import { bridgeAgent } from '../../bridge/bridge-agent.ts'
import { checkNames } from '../../connect/known-names.ts'
import { type HasLine, lineOf } from '../../request/line.ts'
import { sendDirectly } from './send-directly.ts'

export interface AgentOptions {
  /**
   * Sends over Node's own connections where it can: faster, and a refused request is not tried again.
   * The refusal refreshes the credential for the requests after it.
   */
  readonly direct?: boolean
}

const NAMES = Object.keys({ direct: true } satisfies Record<keyof AgentOptions, true>)

/**
 * Makes an agent for `node:https` and the clients built on it: axios, got, node-fetch, ws.
 *
 * Requests need nothing else: they get the cluster's credential, and its way to check the server and to
 * pass a proxy. A request to any other server fails with a `ForeignOriginError`, and nothing is sent.
 *
 * For a server that speaks plain HTTP it is an agent for `node:http`.
 *
 * @example
 * https.get(`${cluster.server}/version`, { agent: createAgent(cluster) }, (response) => …)
 */
export function createAgent(cluster: HasLine, options: AgentOptions = {}): https.Agent {
  const line = lineOf(cluster, 'createAgent')
  checkNames(options, 'createAgent()', NAMES)
  const protocol = line.target.origin.startsWith('https:') ? 'https:' : 'http:'
  const agent = bridgeAgent(new Bridge(() => line), protocol, { keepAlive: true })
  if (options.direct) sendDirectly(agent, line, protocol)
  // Node's two classes differ only in the options that nobody reads here; clients ask for the one of https.
  return agent as https.Agent
}
