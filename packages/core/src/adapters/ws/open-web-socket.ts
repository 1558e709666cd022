import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type https from 'node:https'
import { Bridge, bridgeAgent } from '../../bridge/bridge.ts'
import { PeerMissingError, UpgradeRefusedError } from '../../errors/index.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { pathOn, type RequestTarget } from '../../request/request-target.ts'
import { hideSecrets, showControlCharacters } from '../../secret/scrub.ts'
import type { Secret } from '../../secret/secret.ts'
import { createAgent } from '../https/create-agent.ts'

/** Options of `openWebSocket`. Others, such as `headers` and `perMessageDeflate`, are passed to `ws`. */
export interface OpenWebSocketOptions<Socket> {
  /** Aborts the opening. An open WebSocket ends with its own `close()`, or with the cluster. */
  readonly signal?: AbortSignal | undefined
  /** The class to use; by default that of the installed package `ws`. */
  readonly WebSocket?: WebSocketClass<Socket> | undefined
  readonly [option: string]: unknown
}

/**
 * Opens a WebSocket to the cluster: `exec`, `attach`, `portforward`, or a watch.
 *
 * Resolves when it is open. After a 401 the credential is refreshed and the opening is retried once. Messages that arrive
 * with the response are delivered after the caller of `await` can listen.
 *
 * @param pathOrUrl A path, which is appended to the server's own, or a URL of this cluster (`wss:` or `https:`).
 * @param protocols The subprotocols to offer, such as `v5.channel.k8s.io`.
 * @throws {UpgradeRefusedError} `ERR_UPGRADE_REFUSED`, with the status and the server's message.
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if the URL is not on this cluster; nothing was sent.
 * @throws {PeerMissingError} `ERR_PEER_MISSING` if `ws` is not installed.
 * @throws {CredentialError} If there is no response.
 *
 * @example
 * import { connect } from 'kubecred'
 * import { openWebSocket } from 'kubecred/ws'
 *
 * const cluster = await connect()
 * const path = '/api/v1/namespaces/default/pods/web/exec?command=date&stdout=true'
 * const socket = await openWebSocket(cluster, path, ['v5.channel.k8s.io'])
 */
export async function openWebSocket<Socket extends OpenedWebSocket = OpenedWebSocket>(
  cluster: HasLine,
  pathOrUrl: string | URL,
  protocols: string | readonly string[] = [],
  options: OpenWebSocketOptions<Socket> = {},
): Promise<Socket> {
  const { signal, WebSocket: given, ...rest } = options
  const line = lineOf(cluster, 'openWebSocket')
  line.checkOpen()
  signal?.throwIfAborted()
  const target = line.find(withHttp(pathOrUrl))
  const WebSocket = given ?? ((await loadWebSocket()) as WebSocketClass<Socket>)
  signal?.throwIfAborted()
  // A redirect could lead to another server, and Kubernetes sends none.
  const settings: object = { ...rest, agent: agentFor(target, line), followRedirects: false }
  return opened(
    new WebSocket(addressOf(target, line), [protocols].flat(), settings as never),
    line,
    signal,
  )
}

function opened<Socket extends OpenedWebSocket>(
  socket: Socket,
  { access }: Line,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  return new Promise<Socket>((resolve, reject) => {
    /** Set when a response other than 101 has arrived: it decides, even if its body breaks off. */
    let isRefused = false
    const abort = (): void => {
      reject(signal?.reason)
      socket.terminate()
    }
    // Never removed: an error without a listener would end the process, and `close` follows anyway.
    socket.on('error', (error) => {
      if (!isRefused) reject(error)
    })
    socket.once('open', () => {
      signal?.removeEventListener('abort', abort)
      // The first message may have arrived together with the response.
      socket.pause()
      setImmediate(() => socket.resume())
      resolve(socket)
    })
    socket.once('unexpected-response', (_, response) => {
      isRefused = true
      void readRefusal(response, access.secrets).then((error) => {
        reject(error)
        socket.terminate()
      })
    })
    socket.once('close', () => signal?.removeEventListener('abort', abort))
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Makes an agent for this request only: if the logins name several servers, a path may go to any of them. */
function agentFor(target: RequestTarget, line: Line): Agent {
  const protocol = originOf(target, line).startsWith('https:') ? 'https:' : 'http:'
  return bridgeAgent(new Bridge(() => line, { target }), protocol)
}

/** Returns the URL of the WebSocket; for a path it has the current server. */
function addressOf(target: RequestTarget, line: Line): string {
  return originOf(target, line).replace(/^http/, 'ws') + pathOn(target, line.target)
}

function originOf({ origin }: RequestTarget, { target }: Line): string {
  return origin ?? target.origin
}

/** Converts `ws:` and `wss:` to the schemes of the server. */
function withHttp(pathOrUrl: string | URL): string | URL {
  const text = String(pathOrUrl)
  return /^wss?:/i.test(text) ? text.replace(/^ws/i, 'http') : pathOrUrl
}

/**
 * An open WebSocket: the part of the interface of `ws` that needs none of its types.
 *
 * With the option `WebSocket`, the result has the type of that class instead.
 */
export interface OpenedWebSocket {
  readonly readyState: number
  /** The subprotocol that the server selected; empty if none. */
  readonly protocol: string
  binaryType: string
  send(data: string | Uint8Array, callback?: (error?: Error) => void): void
  ping(): void
  pause(): void
  resume(): void
  close(code?: number, reason?: string): void
  terminate(): void
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'ping' | 'pong', listener: (data: Buffer) => void): unknown
  once(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown
  once(event: 'close', listener: (code: number, reason: Buffer) => void): unknown
  once(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'open', listener: () => void): unknown
  once(
    event: 'unexpected-response',
    listener: (request: ClientRequest, response: IncomingMessage) => void,
  ): unknown
}

/** The class `WebSocket` of `ws`, or a subclass. */
export type WebSocketClass<Socket> = new (
  address: string,
  protocols: string[],
  // Every version of ws has its own type for the options; this one is compatible with all.
  options: never,
) => Socket

/**
 * Loads the class `WebSocket` of the installed package `ws`.
 *
 * @throws {PeerMissingError} `ERR_PEER_MISSING` if it is not installed.
 */
export async function loadWebSocket(
  load: () => Promise<{ WebSocket: WebSocketClass<OpenedWebSocket> }> = () => import('ws'),
): Promise<WebSocketClass<OpenedWebSocket>> {
  try {
    return (await load()).WebSocket
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new PeerMissingError('kubecred/ws', 'ws', { cause })
  }
}

/** How much of a refusal is read; Kubernetes sends a few hundred bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024
/** How long a refusal may take to arrive: a body that never ends must not delay the error. */
const MAX_REFUSAL_MS = 2000
/** How much is shown of a body that is not a Kubernetes `Status`. */
const MAX_REASON_LENGTH = 200

/**
 * Makes an error from a response other than 101, with the server's message.
 *
 * @param secrets Secrets that the server received; they are removed from the message.
 */
async function readRefusal(
  response: IncomingMessage,
  secrets: Iterable<Secret>,
): Promise<UpgradeRefusedError> {
  const { statusCode = 0 } = response
  const text = hideSecrets(await readText(response), secrets)
  const statusMessage = hideSecrets(response.statusMessage ?? '', secrets)
  const reason = messageOf(text) ?? (text.trim().slice(0, MAX_REASON_LENGTH) || statusMessage)
  return new UpgradeRefusedError(statusCode, showControlCharacters(reason))
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => response.destroy(), MAX_REFUSAL_MS)
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > MAX_REFUSAL_BYTES) break
    }
  } catch {
    // The status is enough.
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Returns the message of a Kubernetes `Status`. */
function messageOf(text: string): string | undefined {
  try {
    const { message } = Object(JSON.parse(text))
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns options for the constructor of a `ws` WebSocket.
 *
 * @throws {TypeError} If `cluster` is not a `Cluster`.
 *
 * @example
 * import { connect } from 'kubecred'
 * import { webSocketOptions } from 'kubecred/ws'
 * import { WebSocket } from 'ws'
 *
 * const cluster = await connect()
 * const url = `${cluster.server.replace('https:', 'wss:')}/api/v1/pods?watch=true`
 * const socket = new WebSocket(url, webSocketOptions(cluster))
 */
export function webSocketOptions(cluster: HasLine): { agent: https.Agent } {
  lineOf(cluster, 'webSocketOptions')
  return { agent: createAgent(cluster) }
}
