import type https from 'node:https'
import { type HasLine, lineOf } from '../../request/line.ts'
import { createAgent } from '../https/create-agent.ts'

/**
 * Options for those who construct a `ws` WebSocket themselves.
 *
 * @example
 * const socket = new WebSocket(url, 'v5.channel.k8s.io', webSocketOptions(cluster))
 */
export function webSocketOptions(cluster: HasLine): { agent: https.Agent } {
  lineOf(cluster, 'webSocketOptions')
  return { agent: createAgent(cluster) }
}
