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
import { mergeHeaders } from '../request/headers.ts'
import type { Line } from '../request/line.ts'
import { withBufferedBody } from '../request/outgoing-request.ts'
import { type RequestTarget, splitPath } from '../request/request-target.ts'
import { ClientEnd } from './client-end.ts'
import { convertRequest, convertUpgrade } from './convert-request.ts'
import { PlainAnswer } from './plain-answer.ts'
import type { PlainHead } from './plain-request.ts'
import { createResponseOn, formatResponseHead, sendResponse, UPGRADED } from './send-response.ts'

/** The server that a client wants to connect to. */
export interface Destination {
  readonly protocol: 'http:' | 'https:'
  readonly host: string
  readonly port: number
}

/** A connection with a server's end, which is the key; this is the rest. */
interface ServedConnection {
  readonly route: Route
  /** The client's end: the client gets the error that it is destroyed with. */
  readonly client: ClientEnd
}

interface BridgeOptions {
  /** Where all requests go, whatever they say; by default each goes where it says. */
  readonly target?: RequestTarget
  /** Converts the error of a request that got no response, upgrades excepted; by default it stays as it is. */
  readonly explain?: (error: unknown) => unknown
}

/**
 * Sends the requests of clients that only know sockets.
 *
 * An `https.Agent` must decide about the headers of a request before it can wait for anything. So the client gets one
 * end of a connection inside this process. What it writes there is sent over the line, which attaches the credential and
 * retries after a refusal. A request that is not plain, such as an upgrade or an upload in chunks, is first received by
 * an `http.Server` that listens on no port.
 */
export class Bridge {
  readonly #findLine: () => Line | Promise<Line>
  readonly #target: RequestTarget | undefined
  readonly #explain: (error: unknown) => unknown
  #server: Server | undefined
  readonly #served = new WeakMap<Duplex, ServedConnection>()

  constructor(
    findLine: () => Line | Promise<Line>,
    { target, explain = (error) => error }: BridgeOptions = {},
  ) {
    this.#findLine = findLine
    this.#target = target
    this.#explain = explain
  }

  /** Opens a connection. Requests on it fail if the line does not lead to its destination. */
  connect(destination: Destination): ClientEnd {
    const route = new Route(destination, this.#target)
    // One for all requests of the connection, because signals are not cheap.
    const gone = new AbortController()
    const { signal } = gone
    const options = { abort: () => gone.abort(GONE), explain: this.#explain }
    return new ClientEnd({
      request: (client, head, body) => {
        const answer = new PlainAnswer(client, head.method, options)
        this.#sendPlain({ head, body, route, signal }, answer)
        return answer
      },
      serve: (client, server) => {
        this.#served.set(server, { route, client })
        this.#server ??= this.#createServer()
        this.#server.emit('connection', server)
      },
    })
  }

  /** Sends a plain request. The line is nearly always open already. */
  #sendPlain(request: PlainRequest, answer: PlainAnswer): void {
    try {
      const line = this.#findLine()
      if (line instanceof Promise) void sendPlainLater(line, request, answer)
      else sendPlainOver(line, request, answer)
    } catch (error) {
      answer.failed(error)
    }
  }

  #createServer(): Server {
    // No limits: all clients are in this process. The line, the caller and the API server have theirs.
    const server = createServer({
      requestTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout: 0,
      maxHeaderSize: 1024 * 1024,
      // The outgoing request gets its own Host header in any case.
      requireHostHeader: false,
    })
    server.maxHeadersCount = 0
    server.on('request', (request, response) => void this.#forward(request, response))
    // An `Expect` header is for the API server, not for this one.
    server.on('checkExpectation', (request, response) => void this.#forward(request, response))
    server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head))
    server.on('connect', (request, socket) => socket.destroy(tunnelError(request)))
    // By default Node would respond with a 400, which would look like the API server's.
    server.on('clientError', (error, socket) => socket.destroy(explainParseError(error)))
    return server
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = this.#connectionOf(request.socket)
    const gone = new AbortController()
    response.once('close', () => response.writableFinished || gone.abort(GONE))
    try {
      const line = await this.#openLine()
      const target = connection.route.targetOf(request.url ?? '/', line)
      const outgoing = await convertRequest(request, line.adapterHeaders, gone.signal)
      const incoming = await line.send(target, outgoing)
      sendResponse(response, incoming, { cutOff: (error) => connection.client.destroy(error) })
    } catch (error) {
      gone.abort(GONE)
      connection.client.destroy(this.#explain(error) as Error)
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const connection = this.#connectionOf(socket)
    const gone = new AbortController()
    const abort = (): void => gone.abort(GONE)
    socket.once('close', abort)
    try {
      const line = await this.#openLine()
      const target = connection.route.targetOf(request.url ?? '/', line)
      const outgoing = convertUpgrade(request, line.adapterHeaders, gone.signal)
      const incoming = await line.send(target, outgoing, upgradeExchange)
      const { socket: upgraded } = incoming
      if (upgraded === undefined) {
        const response = createResponseOn(socket, request)
        sendResponse(response, incoming, { cutOff: (error) => connection.client.destroy(error) })
        return
      }
      socket.off('close', abort)
      socket.write(formatResponseHead(incoming, UPGRADED), 'latin1')
      if (head.length > 0) socket.unshift(head)
      // When one side ends or fails, so does the other.
      pipeline(socket, upgraded, socket, () => {})
    } catch (error) {
      gone.abort(GONE)
      connection.client.destroy(error as Error)
    }
  }

  #connectionOf(server: Duplex): ServedConnection {
    return this.#served.get(server) as ServedConnection
  }

  async #openLine(): Promise<Line> {
    const line = await this.#findLine()
    line.checkOpen()
    return line
  }
}

/** The reason why a request is aborted when its client has closed the connection. */
const GONE = new Error('the client has closed the connection')

/** A plain request, and where it goes. */
interface PlainRequest {
  readonly head: PlainHead
  readonly body: Buffer | undefined
  readonly route: Route
  readonly signal: AbortSignal
}

function sendPlainOver(
  line: Line,
  { head, body, route, signal }: PlainRequest,
  answer: PlainAnswer,
): void {
  const { method, path } = head
  const headers = mergeHeaders(line.adapterHeaders, head.headers)
  const outgoing = withBufferedBody({ method, headers, signal }, body)
  line.call(route.targetOf(path, line), outgoing, answer)
}

async function sendPlainLater(
  opening: Promise<Line>,
  request: PlainRequest,
  answer: PlainAnswer,
): Promise<void> {
  try {
    sendPlainOver(await opening, request, answer)
  } catch (error) {
    answer.failed(error)
  }
}

/** Where the requests of one connection go. */
class Route {
  readonly #destination: Destination
  readonly #target: RequestTarget | undefined
  /** The server that the destination was last compared with: nearly always it is still the same. */
  #checked: Target | undefined

  /** @param target Where all requests go, whatever they say. */
  constructor(destination: Destination, target: RequestTarget | undefined) {
    this.#destination = destination
    this.#target = target
  }

  /**
   * Returns where a request goes: the path as it was written, on the server that the client connected to.
   *
   * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN`
   */
  targetOf(url: string, line: Line): RequestTarget {
    if (this.#target !== undefined) return this.#target
    if (!url.startsWith('/')) {
      throw new ForeignOriginError(`${JSON.stringify(url.slice(0, 80))} is not a path`)
    }
    const path = splitPath(url)
    if (line.hasServerPerLogin || line.target !== this.#checked) {
      const needed = originFor(this.#destination, line)
      this.#checked = line.target
      return { ...path, ...needed }
    }
    return path
  }
}

/**
 * Returns the server that a request must go to if the line may have several; the logins then decide about it.
 *
 * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if the line leads to another server.
 */
export function originFor(destination: Destination, line: Line): Pick<RequestTarget, 'origin'> {
  if (line.hasServerPerLogin) return { origin: originOf(destination) }
  checkDestination(destination, line.target)
  return {}
}

/** Returns the origin of a destination, without the port if it is the default one. */
function originOf({ protocol, host, port }: Destination): string {
  const text = `${protocol}//${isIPv6(host) ? `[${host}]` : host}:${port}`
  if (URL.canParse(text)) return new URL(text).origin
  throw new ForeignOriginError(`${JSON.stringify(text.slice(0, 80))} is not a server address`)
}

/** @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if it is not the server that the credential belongs to. */
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

function tunnelError({ url = '' }: IncomingMessage): ForeignOriginError {
  const host = JSON.stringify(url.slice(0, 80))
  return new ForeignOriginError(`the client requested a CONNECT tunnel to ${host}`)
}

/** Explains a body without a length, which is parsed as the next request: Node's client sends a DELETE like that. */
function explainParseError(error: Error & { code?: string }): Error {
  if (error.code !== 'HPE_INVALID_METHOD') return error
  const message = `${error.message}; a body needs the header Content-Length or Transfer-Encoding`
  return Object.assign(new Error(message, { cause: error }), { code: error.code })
}

interface BridgeAgentOptions {
  /** Whether connections are reused, which saves a third of the cost of a request; by default they are not. */
  readonly keepAlive?: boolean
}

/** As many as short requests may be open at once; an idle connection only costs a little memory. */
const MAX_IDLE_CONNECTIONS = 64

/** Makes a Node agent whose connections are those of a bridge. */
export function bridgeAgent(
  bridge: Bridge,
  protocol: Destination['protocol'],
  { keepAlive = false }: BridgeAgentOptions = {},
): http.Agent {
  const Agent = protocol === 'https:' ? https.Agent : http.Agent
  const agent = new Agent({ keepAlive, maxFreeSockets: MAX_IDLE_CONNECTIONS })
  agent.createConnection = (options) => bridge.connect(destinationOf(protocol, options))
  // The settings of TLS, which the name of https.Agent contains, do not matter here.
  agent.getName = http.Agent.prototype.getName
  const { keepSocketAlive } = agent
  agent.keepSocketAlive = (connection) => {
    const isPlain = !(connection as Duplex as ClientEnd).hasServer
    return isPlain && keepSocketAlive.call(agent, connection)
  }
  return agent
}

/** Returns the destination of a request of Node's client, from the options of its connection. */
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
