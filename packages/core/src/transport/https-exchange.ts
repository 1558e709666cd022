import { setMaxListeners } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import type { CertificatePair } from '../protocol/credential.ts'
import type { Closable } from '../vault/derived.ts'
import type { Lease } from '../vault/lease.ts'
import { dial } from './dialer.ts'
import type { Exchange, Incoming, Try } from './exchange.ts'
import { isBrokenConnection } from './network-errors.ts'
import { OpenSockets } from './open-sockets.ts'
import { sendBody } from './send-body.ts'
import type { Target } from './target.ts'

/** Sends requests with Node's own client: it loads fast, which is what a program for one request needs. */
export function httpsExchange(): Exchange {
  return {
    send(target, { credential, derived }, attempt) {
      return send(target, dialingAgent(target, { credential, derived }), attempt)
    },
  }
}

/** Node's agent with connections of this lease, which ends with the lease. */
export function dialingAgent(
  target: Target,
  { credential, derived }: Pick<Lease, 'credential' | 'derived'>,
): http.Agent {
  const { certificate } = credential
  return derived.get('https', target.key, () => new DialingAgent(target, certificate)).agent
}

/** Node's agent, with connections made by our dialer. */
class DialingAgent implements Closable {
  readonly agent: http.Agent
  readonly #sockets = new OpenSockets()
  readonly #dialing = new AbortController()

  constructor(target: Target, certificate: CertificatePair | undefined) {
    const Agent = target.origin.startsWith('https:') ? https.Agent : http.Agent
    const { signal } = this.#dialing
    setMaxListeners(0, signal)
    this.agent = new Agent({ keepAlive: true })
    this.agent.createConnection = (_, callback) => {
      dial(target, certificate, { signal }).then(
        (socket) => {
          this.#sockets.add(socket)
          callback?.(null, socket)
        },
        // The type asks for a socket beside the error; Node does not.
        (error: Error) => (callback as (error: Error) => void)(error),
      )
      return undefined
    }
  }

  /** Frees idle sockets; those in use end with their request, because nobody keeps them alive any more. */
  async close(): Promise<void> {
    this.agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy()
    }
    await this.#sockets.close()
  }

  destroy(reason: Error): void {
    this.#sockets.destroy(reason)
    this.agent.destroy()
    this.#dialing.abort(reason)
  }
}

function send(target: Target, agent: http.Agent, attempt: Try): Promise<Incoming> {
  const { origin } = target
  const { method, path, headers, body, signal } = attempt
  const client = origin.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    const request = client.request(origin + path, {
      method,
      path,
      headers: withLength(headers, body),
      agent,
      ...(signal && { signal }),
    })
    let isAnswered = false
    endWithLine(request, attempt)
    // A connection that was handed over unasked closes without a word.
    request.once('close', () => reject(noAnswer()))
    request.once('error', (error) => {
      // A kept-alive connection may have died unnoticed: what changes nothing on the server takes another one.
      const isDead = request.reusedSocket && !isAnswered && isBrokenConnection(error)
      if (isDead && mayRepeat(attempt)) resolve(send(target, agent, attempt))
      else reject(signal?.aborted ? signal.reason : error)
    })
    request.once('response', (response) => {
      isAnswered = true
      // Here and now: the end of a small response is pushed before anybody who waits for it goes on.
      response.push = (chunk, encoding) => {
        if (chunk === null) attempt.passage.done()
        return http.IncomingMessage.prototype.push.call(response, chunk, encoding)
      }
      resolve({
        statusCode: response.statusCode ?? 0,
        statusText: response.statusMessage ?? '',
        headers: response.headers,
        body: response,
      })
    })
    sendBody(body, request, (reason) => request.destroy(reason))
  })
}

/** A request may wait for its connection or its answer while the cluster is closed; Node would go on with it. */
function endWithLine(request: http.ClientRequest, { checkOpen, wire }: Try): void {
  const abort = (reason: Error): void => void request.destroy(reason)
  const leave = (): void => void wire.delete(abort)
  request.once('socket', () => {
    try {
      checkOpen()
    } catch (error) {
      abort(error as Error)
    }
  })
  wire.add(abort)
  request.once('response', leave).once('close', leave)
}

function noAnswer(): Error {
  return Object.assign(new Error('the connection ended without an answer'), { code: 'ECONNRESET' })
}

function mayRepeat({ method, body, signal }: Try): boolean {
  return body === undefined && !signal?.aborted && (method === 'GET' || method === 'HEAD')
}

function withLength(
  headers: Try['headers'],
  body: Uint8Array | Readable | undefined,
): Try['headers'] {
  return body instanceof Uint8Array
    ? { ...headers, 'content-length': String(body.length) }
    : headers
}
