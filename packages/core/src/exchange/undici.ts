import { setMaxListeners } from 'node:events'
import { type Dispatcher, Pool } from 'undici'
import type { CertificatePair } from '../credential/credential.ts'
import { dial } from '../dial/dial.ts'
import type { Target } from '../dial/target.ts'
import type { ConnectionLimits, Connections, Exchange, Sendable } from './exchange.ts'
import { TlsAlerts } from './tls-alerts.ts'

const KEEP_ALIVE_MS = 60_000

/** Returns an exchange that uses undici's pools of kept-alive connections. */
export function undiciExchange(limits: ConnectionLimits): Exchange {
  return {
    // Clusters with the same identity and server share the pools.
    open: (target, { credential, resources }) =>
      resources.get('undici', target.key, () => new Pools(target, credential.certificate, limits)),
  }
}

/**
 * Two pools, one for short requests and one for streams.
 *
 * Streams have their own pool because undici searches all connections for an idle one. When long responses hold
 * connections of the short pool, a new pool replaces it, and the old one closes after them.
 */
class Pools implements Connections {
  /** undici does not report that an alert ended a connection. */
  readonly alerts = new TlsAlerts()
  readonly #target: Target
  readonly #certificate: CertificatePair | undefined
  readonly #limits: ConnectionLimits
  #short: Pool
  #round = 0
  /** Replaced pools that have not closed yet. */
  readonly #replaced = new Set<Pool>()
  #streams: Pool | undefined
  #closed: Promise<void> | undefined
  /** Aborted when the pools have ended: undici itself does not stop a connection that is being made. */
  readonly #dialing = new AbortController()

  constructor(target: Target, certificate: CertificatePair | undefined, limits: ConnectionLimits) {
    this.#target = target
    this.#certificate = certificate
    this.#limits = limits
    setMaxListeners(0, this.#dialing.signal)
    this.#short = this.#makePool(limits.requests)
  }

  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  send(request: Sendable): void {
    const { method, path, requestHeaders: headers, requestBody: body = null } = request
    const options = { method: method as Dispatcher.HttpMethod, path, headers, body }
    this.#poolFor(request).dispatch(options, request as Dispatcher.DispatchHandler)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async destroy(reason: Error): Promise<void> {
    const pools = [this.#short, this.#streams, ...this.#replaced]
    const ended = Promise.allSettled(pools.map((pool) => pool?.destroy(reason)))
    this.#dialing.abort(reason)
    await ended
  }

  async #close(): Promise<void> {
    // A request may have just received the lease and not have called `send` yet.
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.allSettled([this.#short.close(), this.#streams?.close()])
    this.#dialing.abort()
  }

  #poolFor({ isStream, round }: Sendable): Pool {
    if (isStream) {
      this.#streams ??= this.#makePool(this.#limits.streams)
      return this.#streams
    }
    if (round !== this.#round) {
      this.#round = round
      this.#replace(this.#short)
      this.#short = this.#makePool(this.#limits.requests)
    }
    return this.#short
  }

  /** Lets a pool close after its responses; until then `destroy` must still find it. */
  #replace(pool: Pool): void {
    this.#replaced.add(pool)
    const forget = (): void => void this.#replaced.delete(pool)
    pool.close().then(forget, forget)
  }

  #makePool(connections: number): Pool {
    return new Pool(this.#target.origin, {
      connections,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // As in client-go: a request is ended by its signal, its server or its connection, not by a timeout of ours.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_, callback) => {
        dial(this.#target, this.#certificate, { signal: this.#dialing.signal }).then(
          (socket) => callback(null, this.alerts.watch(socket)),
          (error: Error) => callback(error, null),
        )
      },
    })
  }
}
