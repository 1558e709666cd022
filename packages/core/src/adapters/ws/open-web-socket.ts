import type { Agent } from 'node:http'
import { Bridge } from '../../bridge/bridge.ts'
import { bridgeAgent } from '../../bridge/bridge-agent.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { pathOn, type RequestTarget } from '../../request/request-target.ts'
import { readRefusal } from './read-refusal.ts'
import { loadWebSocket, type OpenedWebSocket, type WebSocketClass } from './web-socket-class.ts'

export type { OpenedWebSocket, WebSocketClass } from './web-socket-class.ts'

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
