import { buildConnector, type Dispatcher, Pool } from 'undici'
import type { CertificatePair, Credential } from '../protocol/credential.ts'
import type { Closable, Derived } from '../vault/derived.ts'
import type { Exchange, Incoming, Try } from './exchange.ts'
import { isBrokenConnection, readAlert } from './network-errors.ts'
import type { Target } from './target.ts'

const CONNECT_TIMEOUT_MS = 30_000
/** How long a server may think about a request that is no stream. */
const HEADERS_TIMEOUT_MS = 300_000
const KEEP_ALIVE_MS = 60_000
const TCP_KEEP_ALIVE_MS = 30_000

/** Sends requests over pools of kept-alive connections, one set of pools per identity and server. */
export function undiciExchange(): Exchange {
  const known = new WeakMap<Derived, Pools>()
  return {
    send(target, { credential, derived }, attempt) {
      const pools = known.get(derived) ?? openPools(target, credential, derived)
      known.set(derived, pools)
      return pools.send(attempt)
    },
  }
}

/** The pools of this identity to this server: other connections that mean the same use them too. */
function openPools(target: Target, { certificate }: Credential, derived: Derived): Pools {
  return derived.get(`undici ${target.key}`, () => new Pools(target, certificate))
}

/**
 * Two pools, one for short requests and one for streams.
 *
 * They open as many connections as the gate lets through. Streams have a pool of their own because
 * undici looks for an idle connection by walking through all of them.
 */
class Pools implements Closable {
  readonly #target: Target
  readonly #short: Pool
  #streams: Pool | undefined
  readonly #certificate: CertificatePair | undefined
  #closed: Promise<void> | undefined
  /** The first alert of a connection tells why the requests on it failed; undici does not. */
  #lastAlert: unknown

  constructor(target: Target, certificate: CertificatePair | undefined) {
    this.#target = target
    this.#certificate = certificate
    this.#short = this.#makePool()
  }

  send(attempt: Try): Promise<Incoming> {
    return this.#request(attempt).catch((error: unknown) => {
      const alert = this.#takeAlert()
      const isSafe = attempt.method === 'GET' || attempt.method === 'HEAD'
      if (alert !== undefined || !isSafe || !isBrokenConnection(error)) throw alert ?? error
      // A kept-alive connection may have died unnoticed: what changes nothing on the server is sent once more.
      return this.#request(attempt)
    })
  }

  #request(attempt: Try): Promise<Incoming> {
    return this.#pool(attempt).request({
      path: attempt.path,
      method: attempt.method as Dispatcher.HttpMethod,
      headers: attempt.headers,
      body: attempt.body ?? null,
      signal: attempt.signal ?? null,
      bodyTimeout: 0,
      headersTimeout: attempt.isStream ? 0 : HEADERS_TIMEOUT_MS,
    })
  }

  /** Requests in flight finish first, however long they last. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async destroy(reason: Error): Promise<void> {
    await Promise.all([this.#short.destroy(reason), this.#streams?.destroy(reason)])
  }

  async #close(): Promise<void> {
    // Somebody may have been given the lease just now and be on the way to `send`.
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([this.#short.close(), this.#streams?.close()])
  }

  #pool({ isStream }: Try): Pool {
    if (!isStream) return this.#short
    this.#streams ??= this.#makePool()
    return this.#streams
  }

  #makePool(): Pool {
    const { tls, origin } = this.#target
    const connect = buildConnector({
      ...(tls.ca !== undefined && { ca: tls.ca }),
      ...(this.#certificate && {
        cert: this.#certificate.chain,
        key: this.#certificate.key.expose(),
      }),
      rejectUnauthorized: !tls.insecure,
      timeout: CONNECT_TIMEOUT_MS,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      // A resumed session keeps the identity it began with, also under a new certificate.
      maxCachedSessions: 0,
    })
    return new Pool(origin, {
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: (options, callback) => {
        const named =
          tls.serverName === undefined ? options : { ...options, servername: tls.serverName }
        connect(named, (...[error, socket]) => {
          socket?.once('error', (reason) => this.#noteAlert(reason))
          if (error) callback(error, null)
          else if (socket) callback(null, socket)
        })
      },
    })
  }

  #noteAlert(error: unknown): void {
    if (readAlert(error) !== undefined) this.#lastAlert = error
  }

  #takeAlert(): unknown {
    const alert = this.#lastAlert
    this.#lastAlert = undefined
    return alert
  }
}
