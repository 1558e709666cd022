import { setMaxListeners } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { CertificatePair } from '../credential/credential.ts'
import { dial } from '../dial/dial.ts'
import { LeaseSockets } from '../dial/lease-sockets.ts'
import { isBrokenConnection } from '../dial/network-errors.ts'
import type { Target } from '../dial/target.ts'
import {
  type ConnectionOwner,
  type Connections,
  type Exchange,
  type HeaderValues,
  type Sendable,
  sendBody,
} from './exchange.ts'
import { CallbackController, NoResponseError, type ResponseHeaders } from './handler.ts'

/** Returns an exchange that uses Node's own client: it loads fast, which matters to programs that send one request. */
export function httpsExchange(): Exchange {
  return { open: openAgent }
}

/** Returns a Node agent whose connections belong to a lease, and end with it. */
export function dialingAgent(target: Target, owner: ConnectionOwner): http.Agent {
  return openAgent(target, owner).agent
}

function openAgent(target: Target, { credential, resources }: ConnectionOwner): DialingAgent {
  return resources.get('https', target.key, () => new DialingAgent(target, credential.certificate))
}

/** A Node agent whose connections are made by `dial`. */
class DialingAgent implements Connections {
  readonly agent: http.Agent
  readonly #origin: string
  readonly #sockets = new LeaseSockets()
  readonly #dialing = new AbortController()
  #isClosed = false

  constructor(target: Target, certificate: CertificatePair | undefined) {
    const Agent = target.origin.startsWith('https:') ? https.Agent : http.Agent
    const { signal } = this.#dialing
    setMaxListeners(0, signal)
    this.#origin = target.origin
    this.agent = new Agent({ keepAlive: true })
    this.agent.createConnection = (_, callback) => {
      dial(target, certificate, { signal }).then(
        (socket) => {
          this.#sockets.add(socket)
          callback?.(null, socket)
        },
        // The type requires a socket beside the error; Node does not.
        (error: Error) => (callback as (error: Error) => void)(error),
      )
      return undefined
    }
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  send(call: Sendable): void {
    const { method, path, requestHeaders, requestBody: body } = call
    const client = this.#origin.startsWith('https:') ? https : http
    try {
      const request = client.request(this.#origin + path, {
        method,
        path,
        headers: withLength(requestHeaders, body),
        agent: this.agent,
      })
      followRequest(request, call)
      sendBody(body, request, (reason) => request.destroy(reason))
    } catch (error) {
      call.onResponseError(null, error as Error)
    }
  }

  /** Closes idle sockets. Those in use end with their request, because they are no longer kept alive. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy()
    }
    await this.#sockets.close()
  }

  destroy(reason: Error): void {
    this.#isClosed = true
    this.#sockets.destroy(reason)
    this.agent.destroy()
    this.#dialing.abort(reason)
  }
}

interface FollowOptions {
  readonly headersOf?: (response: http.IncomingMessage) => ResponseHeaders
  /** Whether a 101 is accepted; otherwise the connection of an unexpected 101 is closed. */
  readonly mayUpgrade?: boolean
}

/** Reports the events of a request of Node's client to a call. */
export function followRequest(
  request: http.ClientRequest,
  call: Sendable,
  { headersOf = ({ headers }) => headers, mayUpgrade = false }: FollowOptions = {},
): void {
  let response: http.IncomingMessage | undefined
  let isOver = false
  const controller = new CallbackController({
    onAbort: (reason) => void request.destroy(reason),
    onPause: () => response?.pause(),
    onResume: () => response?.resume(),
  })
  const fail = (error: Error): void => {
    if (isOver) return
    isOver = true
    const isStale = request.reusedSocket && response === undefined && isBrokenConnection(error)
    call.onResponseError(controller, isStale ? new NoResponseError('stale', error) : error)
  }
  // Now, and not when there is a connection, so that the call can be aborted while it is being made.
  call.onRequestStart(controller, null)
  if (mayUpgrade) {
    request.once('upgrade', (incoming, socket, head) => {
      isOver = true
      if (head.length > 0) socket.unshift(head)
      // It may fail before the caller listens.
      socket.on('error', () => {})
      const { statusCode = 0, statusMessage } = incoming
      call.onRequestUpgrade(controller, statusCode, headersOf(incoming), socket, statusMessage)
    })
  }
  request.once('error', fail)
  // After an unexpected 101, Node closes the connection without an error.
  request.once('close', () => fail(noResponse()))
  request.once('response', (incoming) => {
    response = incoming
    const { statusCode = 0, statusMessage } = incoming
    call.onResponseStart(controller, statusCode, headersOf(incoming), statusMessage)
    incoming.on('data', (chunk: Buffer) => call.onResponseData(controller, chunk))
    incoming.once('end', () => {
      isOver = true
      call.onResponseEnd(controller, incoming.trailers)
    })
    incoming.once('error', fail)
    if (controller.paused) incoming.pause()
  })
}

function noResponse(): Error {
  return Object.assign(new Error('the connection ended without a response'), { code: 'ECONNRESET' })
}

function withLength(headers: HeaderValues, body: Sendable['requestBody']): HeaderValues {
  return body instanceof Uint8Array
    ? { ...headers, 'content-length': String(body.length) }
    : headers
}
