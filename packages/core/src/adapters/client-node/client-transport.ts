import type { Agent } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { Bridge, bridgeAgent } from '../../bridge/bridge.ts'
import { NotSupportedError } from '../../errors/index.ts'
import type { HeaderValues } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import type { Connection } from '../../kubeconfig/connection.ts'
import type { Selection } from '../../logins/kube-config-object.ts'
import type { Line } from '../../request/line.ts'
import { inMemory, MOST_RECORDED, type Outgoing, recorded } from '../../request/outgoing-request.ts'
import { headersOf, targetOf } from '../undici/dispatch.ts'
import type { DispatchOptions } from '../undici/dispatcher-options.ts'
import { asHandler, HandlerCaller, type LegacyHandler } from '../undici/handlers.ts'
import type { OpenClusters } from './open-clusters.ts'

/** What the requests of one selection are given. It holds nothing open itself. */
export interface ContextTransport {
  readonly key: string
  /** For clients that take an agent: all of 1.x, and the WebSockets of 2.x. */
  readonly agent: Agent
  /** For the fetch of 2.x. */
  readonly dispatcher: FetchDispatcher
  /** What the connection will be; undefined when there will be none, which the request is told. */
  connection(): Promise<Connection | undefined>
}

/** The way to the cluster of a selection. */
export function makeTransport(selection: Selection, clusters: OpenClusters): ContextTransport {
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
export function failingTransport(error: unknown): ContextTransport {
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

/**
 * As much of undici's `Dispatcher` as its fetch uses.
 *
 * Any version of undici takes it, because none is behind it: requests go over the line.
 */
export interface FetchDispatcher {
  dispatch(options: DispatchOptions, handler: Handler | LegacyHandler): boolean
}

/** A dispatcher that sends over a line. The handler receives whatever goes wrong. */
function lineDispatcher(passages: Passages): FetchDispatcher {
  return {
    dispatch(options, handler) {
      void send(passages, options, asHandler(handler))
      return true
    },
  }
}

async function send(passages: Passages, options: DispatchOptions, handler: Handler): Promise<void> {
  const release = passages.hold()
  const gone = new AbortController()
  const onAbort = (reason: Error): void => gone.abort(reason)
  const caller = new HandlerCaller(handler, { onAbort, onDone: release })
  caller.begin()
  try {
    const line = await passages.line()
    const target = targetOf(options, line)
    if (options.upgrade) throw new NotSupportedError('client-node opens WebSockets in another way')
    const outgoing = await dispatchedRequest(options, line.adapterHeaders, gone.signal)
    line.call(target, outgoing, caller)
  } catch (error) {
    caller.failed(error)
  }
}

/** Makes an outgoing request from one that came to a dispatcher. */
async function dispatchedRequest(
  options: DispatchOptions,
  defaults: HeaderValues,
  signal: AbortSignal,
): Promise<Outgoing> {
  const {
    'content-length': size = Number.POSITIVE_INFINITY,
    // The connection's own business.
    'transfer-encoding': _,
    connection: __,
    ...headers
  } = headersOf(options, defaults)
  const head = { method: options.method, headers, signal }
  const content = await readBody(options.body, Number(size))
  return content instanceof Readable ? recorded(head, content) : inMemory(head, content)
}

/** fetch gives an iterable that comes once; a small one is read first, so that it can be sent again. */
async function readBody(body: unknown, size: number): Promise<Uint8Array | Readable | undefined> {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  const stream = body instanceof Readable ? body : Readable.from(body as AsyncIterable<Uint8Array>)
  if (size > MOST_RECORDED) return stream
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

/** Where requests go. */
interface Passages {
  line(): Line | Promise<Line>
  /** Notes that a request is on the way. Returns how to say that it is over. */
  hold(): () => void
}

/** An agent that sends over a line. It knows of each request when it begins and when it is over. */
function passageAgent(passages: Passages, protocol: 'http:' | 'https:'): Agent {
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
