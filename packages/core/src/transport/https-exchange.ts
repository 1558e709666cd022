import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import type { Closable } from '../vault/derived.ts'
import type { Exchange, Incoming, Try } from './exchange.ts'
import type { Target } from './target.ts'

/** Sends requests with Node's own client: it loads fast, which is what a program for one request needs. */
export function httpsExchange(): Exchange {
  return {
    send(target, { credential, derived }, attempt) {
      const { certificate } = credential
      const agent = derived.get(`https ${target.key}`, () => {
        const options = {
          ...(target.tls.ca !== undefined && { ca: target.tls.ca }),
          ...(target.tls.serverName !== undefined && { servername: target.tls.serverName }),
          ...(certificate && { cert: certificate.chain, key: certificate.key.expose() }),
          rejectUnauthorized: !target.tls.insecure,
          // A resumed session keeps the identity it began with, also under a new certificate.
          maxCachedSessions: 0,
          keepAlive: true,
        }
        return new ClosableAgent(
          target.origin.startsWith('https:')
            ? new https.Agent(options)
            : new http.Agent({ keepAlive: true }),
        )
      })
      return send(target, agent.agent, attempt)
    },
  }
}

class ClosableAgent implements Closable {
  readonly agent: http.Agent

  constructor(agent: http.Agent) {
    this.agent = agent
  }

  /** Frees idle sockets; those in use end with their request, because nobody keeps them alive any more. */
  close(): void {
    this.agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy()
    }
  }

  destroy(): void {
    this.agent.destroy()
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
