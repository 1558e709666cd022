import type { Target } from '../dial/target.ts'
import { NotSupportedError } from '../errors/index.ts'
import type { ConnectionOwner, Connections, Exchange, Sendable } from './exchange.ts'
import { CallbackController } from './handler.ts'
import type { TlsAlerts } from './tls-alerts.ts'

interface Exchanges {
  /** For private keys in this process. */
  readonly usual: Exchange
  /** For signing keys and servers without HTTP/2: has few connections. */
  readonly few: Exchange
}

/**
 * Limits the connections of signing keys: each connection needs a signature, which a person may have to confirm.
 *
 * Requests with a signing key use HTTP/2, or a few HTTP/1.1 connections if the server does not support it.
 */
export function limitSigningConnections({ usual, few }: Exchanges): Exchange {
  return {
    open(target, owner) {
      if (owner.credential.certificate?.signingKey === undefined) return usual.open(target, owner)
      if (!target.origin.startsWith('https:')) return few.open(target, owner)
      return owner.resources.get(
        'few',
        target.key,
        () => new SigningConnections(target, owner, few),
      )
    },
  }
}

/** Uses HTTP/2 if the server supports it, which the first request finds out. */
class SigningConnections implements Connections {
  readonly #target: Target
  readonly #owner: ConnectionOwner
  readonly #few: Exchange
  #choosing: Promise<Connections> | undefined
  #chosen: Connections | undefined
  #isClosed = false

  constructor(target: Target, owner: ConnectionOwner, few: Exchange) {
    this.#target = target
    this.#owner = owner
    this.#few = few
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get alerts(): TlsAlerts | undefined {
    return this.#chosen?.alerts
  }

  send(call: Sendable): void {
    if (this.#chosen !== undefined) {
      this.#chosen.send(call)
      return
    }
    const waiting = new CallbackController({ onAbort() {}, onPause() {}, onResume() {} })
    call.onRequestStart(waiting, null)
    this.#choosing ??= this.#choose()
    this.#choosing.then(
      (chosen) => {
        if (!waiting.aborted) chosen.send(call)
      },
      (error: Error) => call.onResponseError(waiting, error),
    )
  }

  /** Stops accepting requests. The connections themselves end with the identity. */
  close(): void {
    this.#isClosed = true
  }

  destroy(): void {
    this.#isClosed = true
  }

  async #choose(): Promise<Connections> {
    try {
      this.#chosen = await this.#openHttp2()
    } catch (error) {
      this.#choosing = undefined
      // Nothing was sent or signed.
      if (!(error instanceof NotSupportedError)) throw error
      this.#chosen = this.#few.open(this.#target, this.#owner)
    }
    return this.#chosen
  }

  async #openHttp2(): Promise<Connections> {
    // Loaded on use: most keys are in this process, and HTTP/1.1 is faster for them.
    const { openHttp2 } = await import('./http2.ts')
    const connections = openHttp2(this.#target, this.#owner)
    await connections.opened()
    return connections
  }
}
