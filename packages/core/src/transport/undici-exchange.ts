import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { Dispatcher, Pool } from 'undici'
import type { CertificatePair, Credential } from '../protocol/credential.ts'
import type { Closable, Derived } from '../vault/derived.ts'
import { dial } from './dialer.ts'
import type { ConnectionLimits, Exchange, Incoming, Try } from './exchange.ts'
import { isBrokenConnection, readAlert } from './network-errors.ts'
import type { Target } from './target.ts'
import { type TellingOptions, TellingPool } from './telling-pool.ts'

const KEEP_ALIVE_MS = 60_000

/** Sends requests over pools of kept-alive connections, one set of pools per identity and server. */
export function undiciExchange(limits: ConnectionLimits): Exchange {
  const known = new WeakMap<Derived, { readonly pools: Pools; readonly target: Target }>()
  // The pools of this identity to this server: other connections that mean the same use them too.
  const open = (target: Target, { certificate }: Credential, derived: Derived): Pools =>
    derived.get('undici', target.key, () => new Pools(target, certificate, limits))
  return {
    send(target, { credential, derived }, attempt) {
      const last = known.get(derived)
      // The same identity may go to another server than before, or check it in another way.
      if (last?.target === target && !last.pools.isLeft) return last.pools.send(attempt)
      const pools = open(target, credential, derived)
      known.set(derived, { pools, target })
      return pools.send(attempt)
    },
  }
}

/**
 * Two pools, one for short requests and one for streams.
 *
 * Streams have one of their own because undici looks for an idle connection by walking through all of
 * them. When long responses hold connections of the short pool, a new one takes its place, and the old
 * one ends with them.
 */
class Pools implements Closable {
  readonly #target: Target
  readonly #limits: ConnectionLimits
  #short: Pool
  #round = 0
  /** Pools that were replaced and are not done yet. */
  readonly #left = new Set<Pool>()
  #streams: Pool | undefined
  readonly #certificate: CertificatePair | undefined
  #closed: Promise<void> | undefined
  /** An alert of a connection tells why the requests on it failed; undici does not. */
  #lastAlert: unknown
  #alerts = 0
  /** Aborted when the pools have ended: undici would let a connection that is being made go on. */
  readonly #dialing = new AbortController()

  constructor(target: Target, certificate: CertificatePair | undefined, limits: ConnectionLimits) {
    this.#target = target
    this.#certificate = certificate
    this.#limits = limits
    setMaxListeners(0, this.#dialing.signal)
    this.#short = this.#makePool(limits.requests)
  }

  /** Whether they are to be used no more. */
  get isLeft(): boolean {
    return this.#closed !== undefined
  }

  send(attempt: Try): Promise<Incoming> {
    const alertsBefore = this.#alerts
    return this.#request(attempt).catch((error: unknown) => {
      // Of several that fail together, each must know.
      const alert = this.#alerts > alertsBefore ? this.#lastAlert : undefined
      const isSafe = attempt.method === 'GET' || attempt.method === 'HEAD'
      if (alert !== undefined || !isSafe || !isBrokenConnection(error)) throw alert ?? error
      // A kept-alive connection may have died unnoticed: what changes nothing on the server is sent once more.
      return this.#request(attempt)
    })
  }

  #request(attempt: Try): Promise<Incoming> {
    const options: TellingOptions = {
      path: attempt.path,
      method: attempt.method as Dispatcher.HttpMethod,
      headers: attempt.headers,
      body: attempt.body ?? null,
      signal: attempt.signal ?? null,
      passage: attempt.passage,
      checkOpen: attempt.checkOpen,
      wire: attempt.wire,
    }
    return this.#pool(attempt).request(options)
  }

  /** Requests in flight finish first, however long they last. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async destroy(reason: Error): Promise<void> {
    const pools = [this.#short, this.#streams, ...this.#left]
    const ended = Promise.allSettled(pools.map((pool) => pool?.destroy(reason)))
    this.#dialing.abort(reason)
    await ended
  }

  async #close(): Promise<void> {
    // Somebody may have been given the lease just now and be on the way to `send`.
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.allSettled([this.#short.close(), this.#streams?.close()])
    this.#dialing.abort()
  }

  #pool({ isStream, round }: Try): Pool {
    if (isStream) {
      this.#streams ??= this.#makePool(this.#limits.streams)
      return this.#streams
    }
    if (round !== this.#round) {
      this.#round = round
      this.#leave(this.#short)
      this.#short = this.#makePool(this.#limits.requests)
    }
    return this.#short
  }

  /** Lets a pool end with the responses that hold it; until then it must still be found by `destroy`. */
  #leave(pool: Pool): void {
    this.#left.add(pool)
    const forget = (): void => void this.#left.delete(pool)
    pool.close().then(forget, forget)
  }

  #makePool(connections: number): Pool {
    return new TellingPool(this.#target.origin, {
      connections,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // As in client-go, a request ends with its signal, its server or its connection, not with a timer of ours.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_, callback) => {
        dial(this.#target, this.#certificate, { signal: this.#dialing.signal }).then(
          (socket) => callback(null, this.#watchAlerts(socket)),
          (error: Error) => callback(error, null),
        )
      },
    })
  }

  #watchAlerts(socket: Socket): Socket {
    return socket.once('error', (reason) => this.#noteAlert(reason))
  }

  #noteAlert(error: unknown): void {
    if (readAlert(error) === undefined) return
    this.#lastAlert = error
    this.#alerts += 1
  }
}
