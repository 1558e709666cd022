import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type https from 'node:https'
import { Bridge, bridgeAgent } from '../../bridge/bridge.ts'
import { PeerMissingError, UpgradeRefusedError } from '../../errors/index.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { pathOn, type RequestTarget } from '../../request/request-target.ts'
import { hideSecrets, showControlCharacters } from '../../secret/scrub.ts'
import type { Secret } from '../../secret/secret.ts'
import { createAgent } from '../https/create-agent.ts'

/** Options of `openWebSocket`. Others, such as `headers` and `perMessageDeflate`, are handed to `ws`. */
export interface OpenWebSocketOptions<Socket> {
  /** Ends the opening. An open WebSocket is ended by its own `close()`, or with the cluster. */
  readonly signal?: AbortSignal | undefined
  /** The class to use; without it, the one of the installed package `ws`. */
  readonly WebSocket?: WebSocketClass<Socket> | undefined
  readonly [option: string]: unknown
}

/**
 * Opens a WebSocket to the cluster: `exec`, `attach`, `portforward`, or a watch.
 *
 * Resolves when it is open. After a 401 the credential is refreshed and the opening tried once more.
 * Messages that are already there wait until whoever awaited this had the chance to listen.
 *
 * @param place A path, which is appended to the server's own, or a URL of this cluster (`wss:` or `https:`).
 * @param protocols What we can speak, such as `v5.channel.k8s.io`.
 * @throws {UpgradeRefusedError} With the status and the server's own words.
 * @throws {CredentialError} When no answer was had.
 *
 * @example
 * const path = '/api/v1/namespaces/default/pods/web/exec?command=date&stdout=true'
 * const socket = await openWebSocket(cluster, path, ['v5.channel.k8s.io'])
 */
export async function openWebSocket<Socket extends OpenedWebSocket = OpenedWebSocket>(
  cluster: HasLine,
  place: string | URL,
  protocols: string | readonly string[] = [],
  options: OpenWebSocketOptions<Socket> = {},
): Promise<Socket> {
  const { signal, WebSocket: given, ...rest } = options
  const line = lineOf(cluster, 'openWebSocket')
  line.checkOpen()
  signal?.throwIfAborted()
  const target = line.find(withHttp(place))
  const WebSocket = given ?? ((await loadWebSocket()) as WebSocketClass<Socket>)
  signal?.throwIfAborted()
  // A redirect could lead away from the cluster, and Kubernetes sends none.
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
    /** The answer is there and decides, even if the rest of it breaks off. */
    let isRefused = false
    const abort = (): void => {
      reject(signal?.reason)
      socket.terminate()
    }
    // For good: an error that nobody listens for would end the process, and `close` tells the end anyway.
    socket.on('error', (error) => {
      if (!isRefused) reject(error)
    })
    socket.once('open', () => {
      signal?.removeEventListener('abort', abort)
      // The first message may have come together with the answer.
      socket.pause()
      setImmediate(() => socket.resume())
      resolve(socket)
    })
    socket.once('unexpected-response', (_, response) => {
      isRefused = true
      void readRefusal(response, access.secrets).then((refused) => {
        reject(refused)
        socket.terminate()
      })
    })
    socket.once('close', () => signal?.removeEventListener('abort', abort))
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** An agent for this request alone: where logins name several servers, a path goes to any of them. */
function agentFor(target: RequestTarget, line: Line): Agent {
  const protocol = originOf(target, line).startsWith('https:') ? 'https:' : 'http:'
  return bridgeAgent(new Bridge(() => line, target), protocol)
}

/** What the WebSocket has for its address: where it goes, or would go now. */
function addressOf(target: RequestTarget, line: Line): string {
  return originOf(target, line).replace(/^http/, 'ws') + pathOn(target, line.target)
}

function originOf({ origin }: RequestTarget, { target }: Line): string {
  return origin ?? target.origin
}

/** `ws:` and `wss:` are the schemes of the same server. */
function withHttp(place: string | URL): string | URL {
  const text = String(place)
  return /^wss?:/i.test(text) ? text.replace(/^ws/i, 'http') : place
}

/**
 * What an open WebSocket can do, in the words of `ws`, whose types are not needed for it.
 *
 * With the option `WebSocket`, the class's own type is given instead.
 */
export interface OpenedWebSocket {
  readonly readyState: number
  /** What the server chose of the protocols; empty if nothing. */
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

/** The class `WebSocket` of `ws`, or one made from it. */
export type WebSocketClass<Socket> = new (
  address: string,
  protocols: string[],
  // Every version of ws has a type of its own for them; this one fits all.
  options: never,
) => Socket

/**
 * Loads the class of the installed package.
 *
 * @throws {PeerMissingError}
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

/** What of an answer is read; Kubernetes writes a few hundred bytes. */
const MOST_BYTES = 64 * 1024
/** How long it may take to arrive; a body that never ends must not hold up the error. */
const LONGEST_MS = 2000
/** What of a text is shown that is not from Kubernetes. */
const MOST_SHOWN = 200

/**
 * Makes an error from the answer that came in place of a WebSocket, with the server's own words.
 *
 * @param secrets What the server may have been sent, and must not be in the message.
 */
async function readRefusal(
  response: IncomingMessage,
  secrets: Iterable<Secret>,
): Promise<UpgradeRefusedError> {
  const { statusCode = 0 } = response
  const text = hideSecrets(await readText(response), secrets)
  const statusMessage = hideSecrets(response.statusMessage ?? '', secrets)
  const reason = messageOf(text) ?? (text.trim().slice(0, MOST_SHOWN) || statusMessage)
  return new UpgradeRefusedError(statusCode, showControlCharacters(reason))
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => response.destroy(), LONGEST_MS)
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > MOST_BYTES) break
    }
  } catch {
    // The status is what counts.
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The message of a `Status`. */
function messageOf(text: string): string | undefined {
  try {
    const { message } = Object(JSON.parse(text))
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}

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
