import http, {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import https from 'node:https'
import { isIPv6 } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { addressOf, type Target } from '../dial/target.ts'
import { ForeignOriginError } from '../errors/index.ts'
import { upgradeExchange } from '../exchange/upgrade.ts'
import type { Line } from '../request/line.ts'
import { type RequestTarget, splitPath } from '../request/request-target.ts'
import { bridgedRequest, bridgedUpgrade } from './convert-request.ts'
import { PipeEnd } from './memory-pipe.ts'
import { createResponseOn, formatResponseHead, sendResponse } from './send-response.ts'

/** Where a client believes to connect to. */
export interface Destination {
  readonly protocol: 'http:' | 'https:'
  readonly host: string
  readonly port: number
}

/** What a connection of this bridge remembers. */
interface Crossing {
  readonly destination: Destination
  /** The client's end: what it is destroyed with is the client's error. */
  readonly client: PipeEnd
}

/**
 * Carries requests of a client that knows only sockets.
 *
 * An `https.Agent` must decide about a request's headers before anything can be waited for. So it gets one
 * end of a connection inside this process; at the other end a server that listens nowhere takes the
 * request and sends it on with the credential, again after a refusal, over the pool of the line.
 */
export class Bridge {
  readonly #findLine: () => Line | Promise<Line>
  readonly #target: RequestTarget | undefined
  readonly #server: Server
  readonly #crossings = new WeakMap<Duplex, Crossing>()

  /** @param target Where all requests go, whatever they say; by default where each of them says. */
  constructor(findLine: () => Line | Promise<Line>, target?: RequestTarget) {
    this.#findLine = findLine
    this.#target = target
    // Nobody from outside can be slow or greedy here; limits are the line's, the caller's and the server's.
    this.#server = createServer({
      requestTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout: 0,
      maxHeaderSize: 1024 * 1024,
      // The one to the server has our own, whatever the client says.
      requireHostHeader: false,
    })
    this.#server.maxHeadersCount = 0
    this.#server.on('request', (request, response) => void this.#carry(request, response))
    // What the client expects is the server's to answer.
    this.#server.on('checkExpectation', (request, response) => void this.#carry(request, response))
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head))
    this.#server.on('connect', (request, socket) => socket.destroy(noTunnel(request)))
    // Without this, a client whose request made no sense would get an answer that looks like the server's.
    this.#server.on('clientError', (error, socket) => socket.destroy(explainParseError(error)))
  }

  /** A connection to where the line leads. It fails if the client meant somewhere else. */
  connect(destination: Destination): PipeEnd {
    const [client, server] = PipeEnd.pair()
    this.#crossings.set(server, { destination, client })
    this.#server.emit('connection', server)
    return client
  }

  async #carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const crossing = this.#crossings.get(request.socket)
    const gone = new AbortController()
    response.once('close', () => response.writableFinished || gone.abort(GONE))
    try {
      const line = await this.#openLine()
      const target = this.#target ?? targetOf(request, crossing, line)
      const outgoing = await bridgedRequest(request, line.adapterHeaders, gone.signal)
      const incoming = await line.send(target, outgoing)
      sendResponse(response, incoming, { cutOff: (error) => crossing?.client.destroy(error) })
    } catch (error) {
      gone.abort(GONE)
      crossing?.client.destroy(error as Error)
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const crossing = this.#crossings.get(socket)
    const gone = new AbortController()
    const abort = (): void => gone.abort(GONE)
    socket.once('close', abort)
    try {
      const line = await this.#openLine()
      const target = this.#target ?? targetOf(request, crossing, line)
      const outgoing = bridgedUpgrade(request, line.adapterHeaders, gone.signal)
      const incoming = await line.send(target, outgoing, upgradeExchange)
      const { socket: way } = incoming
      if (way === undefined) {
        const response = createResponseOn(socket, request)
        sendResponse(response, incoming, { cutOff: (error) => crossing?.client.destroy(error) })
        return
      }
      socket.off('close', abort)
      socket.write(formatResponseHead(incoming), 'latin1')
      if (head.length > 0) socket.unshift(head)
      // Either side's end or failure is the other's.
      pipeline(socket, way, socket, () => {})
    } catch (error) {
      gone.abort(GONE)
      crossing?.client.destroy(error as Error)
    }
  }

  async #openLine(): Promise<Line> {
    const line = await this.#findLine()
    line.checkOpen()
    return line
  }
}

/** Why a request is given up; who could read it is not there any more. */
const GONE = new Error('the client has gone')

/**
 * Where a request of a client goes: the path as the client wrote it, to the server that it connected to.
 *
 * @throws {ForeignOriginError}
 */
function targetOf(
  { url = '/' }: IncomingMessage,
  crossing: Crossing | undefined,
  line: Line,
): RequestTarget {
  if (!url.startsWith('/')) {
    throw new ForeignOriginError(`${JSON.stringify(url.slice(0, 80))} is not a path`)
  }
  const path = splitPath(url)
  return crossing === undefined ? path : { ...path, ...originFor(crossing.destination, line) }
}

/**
 * The server that a request must go to, where a line has several.
 *
 * @throws {ForeignOriginError} The line leads elsewhere. With several servers, the logins decide.
 */
export function originFor(destination: Destination, line: Line): Pick<RequestTarget, 'origin'> {
  if (line.hasServerPerLogin) return { origin: originOf(destination) }
  checkDestination(destination, line.target)
  return {}
}

/** The default port may be written or not. */
function originOf({ protocol, host, port }: Destination): string {
  const text = `${protocol}//${isIPv6(host) ? `[${host}]` : host}:${port}`
  if (URL.canParse(text)) return new URL(text).origin
  throw new ForeignOriginError(`${JSON.stringify(text.slice(0, 80))} is no server`)
}

/** @throws {ForeignOriginError} When it is not the server that the credential belongs to. */
function checkDestination({ protocol, host, port }: Destination, target: Target): void {
  const server = addressOf(target)
  const isSame =
    target.origin.startsWith(`${protocol}//`) &&
    host.toLowerCase() === server.host.toLowerCase() &&
    port === server.port
  if (isSame) return
  const asked = `${protocol}//${host}:${port}`
  throw new ForeignOriginError(`${asked} is not this cluster (${target.origin})`, {
    hint: 'Use this agent for requests to its own cluster only.',
  })
}

function noTunnel({ url = '' }: IncomingMessage): ForeignOriginError {
  return new ForeignOriginError(`CONNECT asks for a tunnel to ${JSON.stringify(url.slice(0, 80))}`)
}

/** What comes after a request and is none, is mostly its body: Node's client sends that of a DELETE bare. */
function explainParseError(error: Error & { code?: string }): Error {
  if (error.code !== 'HPE_INVALID_METHOD') return error
  const message = `${error.message}; a body needs the header Content-Length or Transfer-Encoding`
  return Object.assign(new Error(message, { cause: error }), { code: error.code })
}

interface BridgeAgentOptions {
  /**
   * Uses a connection for one request after another, which saves a third of the cost of a request.
   * Without it, a connection ends with its answer.
   */
  readonly keepAlive?: boolean
}

/** Idle connections cost a little memory and nothing else; as many as short requests go out at once. */
const MOST_IDLE = 64

/** An agent of Node whose connections lead over a bridge. */
export function bridgeAgent(
  bridge: Bridge,
  protocol: Destination['protocol'],
  { keepAlive = false }: BridgeAgentOptions = {},
): http.Agent {
  const Agent = protocol === 'https:' ? https.Agent : http.Agent
  const agent = new Agent({ keepAlive, maxFreeSockets: MOST_IDLE })
  agent.createConnection = (options) => bridge.connect(destinationOf(protocol, options))
  return agent
}

/** Where a request of Node's client is meant to go. */
export function destinationOf(
  protocol: Destination['protocol'],
  { host, hostname, port }: { host?: unknown; hostname?: unknown; port?: unknown },
): Destination {
  return {
    protocol,
    host: String(host ?? hostname ?? 'localhost').replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  }
}
