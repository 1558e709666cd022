import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { ForeignOriginError } from '../errors/index.ts'
import { answerHead, answerOn, sendAnswer } from './bridged-answer.ts'
import { bridgedRequest, bridgedUpgrade } from './bridged-request.ts'
import type { Line } from './line.ts'
import { PipeEnd } from './memory-pipe.ts'
import type { Aim } from './servers.ts'
import { addressOf, type Place, type Target } from './target.ts'
import { upgradedSocket, upgradeExchange } from './upgrade-exchange.ts'

/** Where a client believes to connect to. */
export interface Destination {
  readonly protocol: 'http:' | 'https:'
  readonly host: string
  readonly port: number
}

/** What a connection of this bridge remembers. */
interface Crossing {
  readonly destination: Destination
  /** The client's end: what it is destroyed with is what the client is told. */
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
  readonly #aim: Aim | undefined
  readonly #server: Server
  readonly #crossings = new WeakMap<Duplex, Crossing>()

  /** @param aim Where all requests go, whatever they say; where each of them says unless given. */
  constructor(findLine: () => Line | Promise<Line>, aim?: Aim) {
    this.#findLine = findLine
    this.#aim = aim
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
      const { line, place, ...wish } = await this.#lineFor(crossing, request)
      const outgoing = await bridgedRequest(request, line.adapterHeaders, gone.signal)
      const incoming = await line.send(place, outgoing, wish)
      sendAnswer(response, incoming, { cutOff: (error) => crossing?.client.destroy(error) })
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
      const { line, place, ...wish } = await this.#lineFor(crossing, request)
      const outgoing = bridgedUpgrade(request, line.adapterHeaders, gone.signal)
      const incoming = await line.send(place, outgoing, { via: upgradeExchange, ...wish })
      const way = upgradedSocket(incoming)
      if (way === undefined) {
        const response = answerOn(socket, request)
        sendAnswer(response, incoming, { cutOff: (error) => crossing?.client.destroy(error) })
        return
      }
      socket.off('close', abort)
      socket.write(answerHead(incoming), 'latin1')
      if (head.length > 0) socket.unshift(head)
      // Either side's end or failure is the other's.
      pipeline(socket, way, socket, () => {})
    } catch (error) {
      gone.abort(GONE)
      crossing?.client.destroy(error as Error)
    }
  }

  /** @throws {ForeignOriginError} */
  async #lineFor(
    crossing: Crossing | undefined,
    request: IncomingMessage,
  ): Promise<Aim & { readonly line: Line }> {
    const line = await this.#findLine()
    line.checkOpen()
    if (this.#aim !== undefined) return { line, ...this.#aim }
    const place = placeOf(request)
    if (crossing === undefined) return { line, place }
    return { line, place, ...wishFor(crossing.destination, line) }
  }
}

/** Why a request is given up; who could read it is not there any more. */
const GONE = new Error('the client has gone')

/**
 * What a request that is meant for somewhere wants of a credential.
 *
 * @throws {ForeignOriginError} When it is not the server of the line. With several, whoever gives the credential
 * says whether it is one of them.
 */
export function wishFor(destination: Destination, line: Line): Pick<Aim, 'wish'> {
  if (line.isOpenEnded) return { wish: { origin: originOf(destination) } }
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

/** The path as the client wrote it: it came over a connection to this server, whatever it looks like. */
function placeOf({ url = '/' }: IncomingMessage): Place {
  if (!url.startsWith('/')) {
    throw new ForeignOriginError(`${JSON.stringify(url.slice(0, 80))} is not a path`)
  }
  const query = url.indexOf('?')
  return query === -1
    ? { pathname: url, search: '' }
    : { pathname: url.slice(0, query), search: url.slice(query) }
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
