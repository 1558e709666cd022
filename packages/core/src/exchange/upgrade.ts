import http from 'node:http'
import type { Duplex } from 'node:stream'
import type { CertificatePair } from '../credential/credential.ts'
import { dial } from '../dial/dial.ts'
import { LeaseSockets } from '../dial/lease-sockets.ts'
import type { Target } from '../dial/target.ts'
import { distinctHeaders } from './distinct-headers.ts'
import {
  type ConnectionOwner,
  type Connections,
  type Exchange,
  type Sendable,
  sendBody,
} from './exchange.ts'
import { CallbackController, type ResponseHeaders } from './handler.ts'
import { followRequest } from './https.ts'

/**
 * Sends an upgrade request over a connection of its own.
 *
 * If the server agrees, the status is 101 and the call has the connection itself. Any other response is an ordinary
 * one.
 */
export const upgradeExchange: Exchange = {
  open: (target, owner) => open('upgrades', target, owner, {}),
}

/**
 * Sends an upgrade request with an `Origin` header that names the server itself.
 *
 * kube-apiserver rejects a WebSocket watch without one. If a vault has several servers, the server is known only here.
 */
export const upgradeWithServerOrigin: Exchange = {
  open: (target, owner) =>
    open('upgrades from the own origin', target, owner, { origin: target.origin }),
}

function open(
  kind: string,
  target: Target,
  { credential, resources }: ConnectionOwner,
  headers: Record<string, string>,
): Connections {
  const make = (): UpgradeSockets => new UpgradeSockets(target, credential.certificate, headers)
  return resources.get(kind, target.key, make)
}

class UpgradeSockets implements Connections {
  readonly isClosed = false
  readonly #target: Target
  readonly #certificate: CertificatePair | undefined
  readonly #headers: Record<string, string>
  readonly #sockets = new LeaseSockets()

  constructor(
    target: Target,
    certificate: CertificatePair | undefined,
    headers: Record<string, string>,
  ) {
    this.#target = target
    this.#certificate = certificate
    this.#headers = headers
  }

  send(call: Sendable): void {
    const gone = new AbortController()
    // Controls the call until there is a connection.
    const dialing = new CallbackController({
      onAbort: (reason) => gone.abort(reason),
      onPause() {},
      onResume() {},
    })
    call.onRequestStart(dialing, null)
    const dialed = this.#sockets.open(
      (signal) => dial(this.#target, this.#certificate, { signal }),
      gone.signal,
    )
    dialed.then(
      (socket) => this.#ask(call, socket),
      (error: Error) => call.onResponseError(dialing, error),
    )
  }

  close(): Promise<void> {
    return this.#sockets.close()
  }

  destroy(reason: Error): void {
    this.#sockets.destroy(reason)
  }

  #ask(call: Sendable, socket: Duplex): void {
    const { method, path, requestHeaders, requestBody } = call
    const request = http.request({
      method,
      path,
      headers: {
        host: new URL(this.#target.origin).host,
        ...requestHeaders,
        ...this.#headers,
        connection: 'Upgrade',
      },
      createConnection: () => socket,
    })
    followRequest(request, call, { headersOf, mayUpgrade: true })
    request.once('error', () => socket.destroy())
    request.once('response', (response) => response.once('close', () => socket.destroy()))
    sendBody(requestBody, request, (reason) => request.destroy(reason))
  }
}

/** Keeps repeated headers apart, because the bridge passes them on. */
function headersOf({ rawHeaders }: http.IncomingMessage): ResponseHeaders {
  const headers: ResponseHeaders = {}
  for (const [name, values] of distinctHeaders(rawHeaders)) {
    headers[name] = values.length === 1 ? values[0] : values
  }
  return headers
}
