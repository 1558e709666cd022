import type { Agent } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { Bridge, bridgeAgent } from '../../bridge/bridge.ts'
import { isCredentialError, NotSupportedError } from '../../errors/index.ts'
import type { HeaderValues } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import type { Connection } from '../../kubeconfig/connection.ts'
import type { Selection } from '../../logins/kube-config-object.ts'
import type { Line } from '../../request/line.ts'
import {
  MAX_RECORDED_BYTES,
  type OutgoingRequest,
  withBufferedBody,
  withStreamBody,
} from '../../request/outgoing-request.ts'
import { headersOf, targetOf } from '../undici/dispatch.ts'
import type { DispatchOptions } from '../undici/dispatcher-options.ts'
import { asHandler, HandlerCaller, type LegacyHandler } from '../undici/handlers.ts'
import type { OpenClusters } from './open-clusters.ts'

/** What client-node sends the requests of one context with. It keeps nothing open itself. */
export interface ClientTransport extends LineProvider {
  readonly key: string
  /** For requests that the fetch of 1.x sends, and for WebSockets. */
  readonly agent: Agent
  /** For the fetch of 2.x. */
  readonly dispatcher: FetchDispatcher
  /** Resolves with the connection, or with undefined if it is invalid: then the request itself fails. */
  connection(): Promise<Connection | undefined>
}

/** Makes the transport of a selection, which leads to its cluster. */
export function makeTransport(selection: Selection, clusters: OpenClusters): ClientTransport {
  const isPlain = selection.cluster?.server.startsWith('http:') === true
  const provider: LineProvider = {
    line: () => clusters.line(selection),
    hold: () => clusters.hold(selection),
  }
  return {
    ...provider,
    key: selection.key,
    agent: lineAgent(provider, isPlain ? 'http:' : 'https:'),
    dispatcher: lineDispatcher(provider),
    connection: () => clusters.connection(selection).catch(() => undefined),
  }
}

/**
 * Makes a transport on which every request fails.
 *
 * The error cannot be thrown earlier: client-node's watches authenticate outside of any `try`, and a rejection there
 * would end the process.
 */
export function failingTransport(error: unknown, protocol = 'https:'): ClientTransport {
  const provider: LineProvider = {
    line: () => Promise.reject(error),
    hold: () => () => {},
  }
  return {
    ...provider,
    key: '',
    agent: lineAgent(provider, protocol === 'http:' ? protocol : 'https:'),
    dispatcher: lineDispatcher(provider),
    connection: async () => undefined,
  }
}

/**
 * The part of undici's `Dispatcher` that its fetch uses.
 *
 * It works with any version of undici, because it uses none: requests go over the line.
 */
export interface FetchDispatcher {
  dispatch(options: DispatchOptions, handler: Handler | LegacyHandler): boolean
}

/** Makes a dispatcher that sends over a line. All errors go to the handler. */
function lineDispatcher(provider: LineProvider): FetchDispatcher {
  return {
    dispatch(options, handler) {
      void send(provider, options, asHandler(handler))
      return true
    },
  }
}

async function send(
  provider: LineProvider,
  options: DispatchOptions,
  handler: Handler,
): Promise<void> {
  const release = provider.hold()
  const gone = new AbortController()
  const onAbort = (reason: Error): void => gone.abort(reason)
  const caller = new HandlerCaller(handler, { onAbort, onDone: release })
  caller.begin()
  try {
    const line = await provider.line()
    const target = targetOf(options, line)
    if (options.upgrade) throw new NotSupportedError('this dispatcher does not support upgrades')
    const outgoing = await dispatchedRequest(options, line.adapterHeaders, gone.signal)
    line.call(target, outgoing, caller)
  } catch (error) {
    caller.failed(error)
  }
}

/** Converts a dispatched request to an outgoing one. */
async function dispatchedRequest(
  options: DispatchOptions,
  defaults: HeaderValues,
  signal: AbortSignal,
): Promise<OutgoingRequest> {
  const {
    'content-length': size = Number.POSITIVE_INFINITY,
    // Set by the connection.
    'transfer-encoding': _,
    connection: __,
    ...headers
  } = headersOf(options, defaults)
  const head = { method: options.method, headers, signal }
  const content = await readBody(options.body, Number(size))
  return content instanceof Readable
    ? withStreamBody(head, content)
    : withBufferedBody(head, content)
}

/** Reads a small body into memory, so that it can be sent again: fetch passes an iterable that can be read only once. */
async function readBody(body: unknown, size: number): Promise<Uint8Array | Readable | undefined> {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  const stream = body instanceof Readable ? body : Readable.from(body as AsyncIterable<Uint8Array>)
  if (size > MAX_RECORDED_BYTES) return stream
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

/** Opens the line of a selection, and keeps it open. */
export interface LineProvider {
  line(): Line | Promise<Line>
  /** Keeps the cluster open for a request. Returns a function to call when the request has ended. */
  hold(): () => void
}

/** Makes an agent that sends over a line, and holds it from the start to the end of each request. */
function lineAgent(provider: LineProvider, protocol: 'http:' | 'https:'): Agent {
  const bridge = new Bridge(() => provider.line(), { explain: withHint })
  const agent = bridgeAgent(bridge, protocol, { keepAlive: true })
  const { createConnection, keepSocketAlive, reuseSocket } = agent
  const releases = new WeakMap<Duplex, () => void>()
  const end = (connection: Duplex): void => releases.get(connection)?.()
  agent.createConnection = (options, callback) => {
    const connection = createConnection.call(agent, options, callback)
    if (!connection) return connection
    releases.set(connection, provider.hold())
    return connection.once('close', () => end(connection))
  }
  // Node calls these when a request on a connection has ended, and when the connection is reused.
  agent.keepSocketAlive = (connection) => {
    end(connection)
    return keepSocketAlive.call(agent, connection)
  }
  agent.reuseSocket = (connection, request) => {
    releases.set(connection, provider.hold())
    reuseSocket.call(agent, connection, request)
  }
  return rejectTlsCopies(agent)
}

/**
 * Puts the hint of one of our errors into the message.
 *
 * The node-fetch of client-node 1.x wraps the error in one of its own, which keeps only `message` and `code`.
 */
function withHint(error: unknown): unknown {
  if (!isCredentialError(error)) return error
  const { message, code, hint } = error
  return Object.assign(new Error(`${message}. ${hint}`, { cause: error }), { code, hint })
}

/** The TLS settings that programs copy from an agent to connect by themselves. */
const TLS_SETTINGS = ['ca', 'cert', 'key', 'pfx']

/**
 * Makes reading the TLS settings of the agent an error.
 *
 * Settings and credential stay with the line. A program that copied them would connect without both, and fail with
 * "unable to verify the first certificate" or a 401, far away from the cause.
 */
function rejectTlsCopies(agent: Agent): Agent {
  const { options } = agent as Agent & { readonly options: object }
  for (const name of TLS_SETTINGS) {
    // Not enumerable: Node copies the options of an agent for every request.
    Object.defineProperty(options, name, {
      get() {
        throw new TypeError(
          `the agent of attach() has no "${name}" to copy: send the request with this agent, with cluster.fetch() of kubecred or with createDispatcher() of kubecred/undici, or start the program with "kubecred run"`,
        )
      },
    })
  }
  return agent
}
