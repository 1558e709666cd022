import http from 'node:http'
import type { Duplex } from 'node:stream'
import { dial } from './dialer.ts'
import type { Exchange, Incoming, Try } from './exchange.ts'
import { OpenSockets } from './open-sockets.ts'
import { sendBody } from './send-body.ts'

/**
 * Sends a request that asks for another protocol, over a connection of its own.
 *
 * When the server agrees, the status is 101 and the body is the connection itself, both ways. Any other
 * answer is an ordinary one.
 */
export const upgradeExchange: Exchange = {
  async send(target, { credential, derived }, attempt) {
    const sockets = derived.get('upgrades', target.key, () => new OpenSockets())
    const socket = await sockets.open(
      (signal) => dial(target, credential.certificate, { signal }),
      attempt.signal,
    )
    attempt.checkOpen()
    return ask(target.origin, socket, attempt)
  },
}

/** The connection that a 101 handed over, or undefined for any other answer. */
export function upgradedSocket({ statusCode, body }: Incoming): Duplex | undefined {
  return statusCode === 101 ? (body as Duplex) : undefined
}

function ask(origin: string, socket: Duplex, attempt: Try): Promise<Incoming> {
  const { method, path, headers, body, signal } = attempt
  return new Promise((resolve, reject) => {
    const request = http.request({
      method,
      path,
      headers: { host: new URL(origin).host, ...headers, connection: 'Upgrade' },
      createConnection: () => socket,
      ...(signal && { signal }),
    })
    request.once('error', (error) => {
      socket.destroy()
      reject(signal?.aborted ? signal.reason : error)
    })
    request.once('response', (response) => {
      response.once('close', () => socket.destroy())
      resolve(incomingOf(response, response))
    })
    request.once('upgrade', (response, raw, head) => {
      if (head.length > 0) raw.unshift(head)
      // Whoever gets it listens later than it may fail.
      raw.on('error', () => {})
      resolve(incomingOf(response, raw))
    })
    sendBody(body, request, (reason) => request.destroy(reason))
  })
}

/** Repeated headers stay apart, as the bridge passes them on. */
function incomingOf(response: http.IncomingMessage, body: Incoming['body']): Incoming {
  const headers: Record<string, string | string[]> = {}
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    if (values !== undefined) headers[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return {
    statusCode: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers,
    body,
  }
}
