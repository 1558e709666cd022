import { setMaxListeners } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import type { CertificatePair } from '../protocol/credential.ts'
import type { Closable } from '../vault/derived.ts'
import { dial } from './dialer.ts'
import type { Exchange, Incoming, Try } from './exchange.ts'
import type { Target } from './target.ts'

/** Sends requests with Node's own client: it loads fast, which is what a program for one request needs. */
export function httpsExchange(): Exchange {
  return {
    send(target, { credential, derived }, attempt) {
      const { certificate } = credential
      const agent = derived.get(`https ${target.key}`, () => new DialingAgent(target, certificate))
      return send(target, agent.agent, attempt)
    },
  }
}

/** Node's agent, with connections made by our dialer. */
class DialingAgent implements Closable {
  readonly agent: http.Agent
  readonly #dialing = new AbortController()

  constructor(target: Target, certificate: CertificatePair | undefined) {
    const Agent = target.origin.startsWith('https:') ? https.Agent : http.Agent
    const { signal } = this.#dialing
    setMaxListeners(0, signal)
    this.agent = new Agent({ keepAlive: true })
    this.agent.createConnection = (_, callback) => {
      dial(target, certificate, { signal }).then(
        (socket) => callback?.(null, socket),
        // The type asks for a socket beside the error; Node does not.
        (error: Error) => (callback as (error: Error) => void)(error),
      )
      return undefined
    }
  }

  /** Frees idle sockets; those in use end with their request, because nobody keeps them alive any more. */
  close(): void {
    this.agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy()
    }
  }

  destroy(reason: Error): void {
    this.agent.destroy()
    this.#dialing.abort(reason)
  }
}

function send({ origin }: Target, agent: http.Agent, attempt: Try): Promise<Incoming> {
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
    request.once('error', (error) => reject(signal?.aborted ? signal.reason : error))
    request.once('response', (response) => {
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
    if (body === undefined || body instanceof Uint8Array) request.end(body)
    else body.once('error', reject).pipe(request)
  })
}

function withLength(
  headers: Try['headers'],
  body: Uint8Array | Readable | undefined,
): Try['headers'] {
  return body instanceof Uint8Array
    ? { ...headers, 'content-length': String(body.length) }
    : headers
}
