import type { Agent } from 'node:http'
import type { Selection } from '../../connect/kube-config/selection.ts'
import type { Connection } from '../../kubeconfig/connection.ts'
import { type FetchDispatcher, lineDispatcher } from './dispatcher.ts'
import type { OpenClusters } from './open-clusters.ts'
import { type Passages, passageAgent } from './passage-agent.ts'

/** What the requests of one selection are given. It holds nothing open itself. */
export interface Way {
  readonly key: string
  /** For clients that take an agent: all of 1.x, and the WebSockets of 2.x. */
  readonly agent: Agent
  /** For the fetch of 2.x. */
  readonly dispatcher: FetchDispatcher
  /** What the connection will be; undefined when there will be none, which the request is told. */
  connection(): Promise<Connection | undefined>
}

/** The way to the cluster of a selection. */
export function makeWay(selection: Selection, clusters: OpenClusters): Way {
  const isPlain = selection.cluster?.server.startsWith('http:') === true
  const passages: Passages = {
    line: () => clusters.line(selection),
    hold: () => clusters.hold(selection),
  }
  return {
    key: selection.key,
    agent: passageAgent(passages, isPlain ? 'http:' : 'https:'),
    dispatcher: lineDispatcher(passages),
    connection: () => clusters.connection(selection).catch(() => undefined),
  }
}

/**
 * A way on which every request fails.
 *
 * Watches wait for their authentication outside of any try: a rejection there would end the process.
 */
export function brokenWay(error: unknown): Way {
  const passages: Passages = {
    line: () => Promise.reject(error),
    hold: () => () => {},
  }
  return {
    key: '',
    agent: passageAgent(passages, 'https:'),
    dispatcher: lineDispatcher(passages),
    connection: async () => undefined,
  }
}
