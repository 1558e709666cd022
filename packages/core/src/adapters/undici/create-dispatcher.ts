import { explainNetworkError } from '../../dial/network-errors.ts'
import type { Target } from '../../dial/target.ts'
import { UNTRUSTED_REASONS } from '../../errors/transport-errors.ts'
import type { ConnectionOwner } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import type { Closable } from '../../keeper/resource-cache.ts'
import { requireAbility } from '../../node/runtime.ts'
import { type HasLine, type Line, lineOf } from '../../request/line.ts'
import { certificateAlert } from '../../tls/alert.ts'
import { dispatch, type UserConnections } from './dispatch.ts'
import {
  type DispatcherOptions,
  type DispatchOptions,
  type OptionsFor,
  type Pool,
  readOptions,
  type Undici,
  type UndiciModule,
} from './dispatcher-options.ts'
import type { HandlerCaller, LegacyHandler } from './handlers.ts'
import { Pools } from './pools.ts'

/** The callback of undici's `close` and `destroy`. */
type Done = (error: Error | null, nothing: null) => void

/**
 * Makes a dispatcher of your undici that sends requests with the cluster's credential.
 *
 * It is a real `Dispatcher`: `request`, `stream`, `pipeline`, `upgrade` and `compose` work, and it can be passed to
 * `undici.fetch` or `setGlobalDispatcher`. Requests to any other server fail with a `ForeignOriginError`
 * (`ERR_FOREIGN_ORIGIN`).
 *
 * @param undici The module itself: `import * as undici from 'undici'`, version 6, 7 or 8.
 * @throws {TypeError} If `cluster` is not a `Cluster`, `undici` is not the module, or an option is unknown.
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` if `allowH2` is set and undici is older than version 8, and under Bun.
 *
 * @example
 * import { connect } from 'kubecred'
 * import { createDispatcher } from 'kubecred/undici'
 * import * as undici from 'undici'
 *
 * const cluster = await connect()
 * const dispatcher = createDispatcher(cluster, undici)
 * const response = await undici.fetch(`${cluster.server}/api/v1/pods`, { dispatcher })
 */
export function createDispatcher<Module extends UndiciModule>(
  cluster: HasLine,
  undici: Module,
  options: DispatcherOptions = {},
): InstanceType<Module['Dispatcher']> {
  const line = lineOf(cluster, 'createDispatcher')
  requireAbility('undici')
  checkModule(undici)
  const known = undici as unknown as Undici
  const core = new DispatcherCore(line, known, readOptions(options, undici))
  // All state is in the core: undici also calls these methods on a Proxy, which has no private fields.
  class ClusterDispatcher extends known.Dispatcher {
    get closed(): boolean {
      return core.isClosed
    }

    get destroyed(): boolean {
      return core.isDestroyed
    }

    dispatch(request: DispatchOptions, handler: Handler | LegacyHandler): boolean {
      return core.dispatch(request, handler)
    }

    close(done?: Done): Promise<void> | undefined {
      return settle(core.close(), done)
    }

    destroy(reason?: Error | Done | null, done?: Done): Promise<void> | undefined {
      if (typeof reason === 'function') return settle(core.destroy(), reason)
      return settle(core.destroy(reason ?? undefined), done)
    }
  }
  const dispatcher = new ClusterDispatcher()
  core.onEvent = (name, origin, targets, error) =>
    void dispatcher.emit(name, origin, [dispatcher, ...targets], error)
  return dispatcher as InstanceType<Module['Dispatcher']>
}

function checkModule(undici: UndiciModule): void {
  const { Dispatcher, Pool, errors } = (undici ?? {}) as Partial<UndiciModule>
  const isModule = typeof Dispatcher === 'function' && typeof Pool === 'function'
  if (isModule && typeof errors === 'object') return
  throw new TypeError(
    "createDispatcher(cluster, undici) needs the module itself: import * as undici from 'undici'",
  )
}

function settle(ended: Promise<void>, done: Done | undefined): Promise<void> | undefined {
  if (done === undefined) return ended
  ended.then(
    () => done(null, null),
    (error: Error) => done(error, null),
  )
  return undefined
}

type PoolEvent = 'connect' | 'disconnect' | 'connectionError'

/** The implementation of a dispatcher, without the class that undici requires. */
class DispatcherCore implements UserConnections {
  /** Called with the connection events of the pools. */
  onEvent: (name: PoolEvent, origin: URL, targets: object[], error?: Error) => void = () => {}
  readonly line: Line
  readonly isUserOwned = false
  readonly #undici: Undici
  readonly #optionsFor: OptionsFor
  readonly #inFlight = new InFlight()
  /** The pools of this identity, and those of earlier ones that have not ended yet. */
  readonly #pools = new Set<Pools>()
  /** Stops the line from destroying this dispatcher when it is closed. */
  readonly #detach: () => void
  #closed: Promise<void> | undefined
  #destroyed: Promise<void> | undefined
  #isEnded = false

  constructor(line: Line, undici: Undici, optionsFor: OptionsFor) {
    this.line = line
    this.#undici = undici
    this.#optionsFor = optionsFor
    this.#detach = line.destroyOnClose(this)
  }

  get isClosed(): boolean {
    return this.#closed !== undefined || this.isDestroyed
  }

  get isDestroyed(): boolean {
    return this.#isEnded || this.#destroyed !== undefined
  }

  dispatch(request: DispatchOptions, handler: Handler | LegacyHandler): boolean {
    return dispatch(request, handler, this)
  }

  check(): void {
    this.line.checkOpen()
    const { ClientClosedError, ClientDestroyedError } = this.#undici.errors
    if (this.isDestroyed) throw new ClientDestroyedError()
    if (this.isClosed) throw new ClientClosedError()
  }

  begin(request: HandlerCaller): () => void {
    return this.#inFlight.add(request)
  }

  open(target: Target, { credential: { certificate }, resources }: ConnectionOwner): Pools {
    const owners = resources.get('user undici', target.key, () => new PoolsByOwner())
    return owners.of(this, () => {
      const made = new Pools({
        undici: this.#undici,
        target,
        certificate,
        options: this.#optionsFor(certificate),
        onPool: (pool) => this.#forward(pool),
        onEnd: () => {
          owners.delete(this)
          this.#pools.delete(made)
        },
      })
      this.#pools.add(made)
      return made
    })
  }

  /** Leaves network errors as undici's own: programs and undici's retry interceptor check their codes. */
  explain(error: unknown, origin: string): unknown {
    const { code = '' } = (error ?? {}) as { code?: string }
    const isAboutTrust =
      certificateAlert(error) !== undefined || UNTRUSTED_REASONS[code] !== undefined
    return isAboutTrust ? explainNetworkError(error, origin) : error
  }

  aborted(): Error {
    return new this.#undici.errors.RequestAbortedError()
  }

  /** Closes after requests in flight have finished. Upgraded connections stay open. */
  close(): Promise<void> {
    if (this.isDestroyed) return Promise.reject(new this.#undici.errors.ClientDestroyedError())
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Ends all requests and connections now. */
  destroy(reason: Error = new this.#undici.errors.ClientDestroyedError()): Promise<void> {
    this.#destroyed ??= this.#destroy(reason)
    return this.#destroyed
  }

  async #close(): Promise<void> {
    await this.#inFlight.whenIdle()
    const pools = [...this.#pools]
    await Promise.all(pools.map((each) => each.closePools()))
    this.#isEnded = true
    // Until then, the cluster must be able to end upgraded connections.
    void Promise.all(pools.map((each) => each.close())).then(this.#detach)
  }

  async #destroy(reason: Error): Promise<void> {
    this.#detach()
    this.#inFlight.destroy(reason)
    await Promise.all([...this.#pools].map((pools) => pools.destroy(reason)))
  }

  #forward(pool: Pool): void {
    for (const name of ['connect', 'disconnect', 'connectionError'] as const) {
      pool.on(name, (origin: URL, targets: object[], error?: Error) =>
        this.onEvent(name, origin, targets, error),
      )
    }
  }
}

interface Abortable {
  abort(reason: Error): void
}

/** The requests in flight. */
class InFlight {
  readonly #requests = new Set<Abortable>()
  #waiting: (() => void)[] = []

  /** Adds a request. Returns a function to call when it has ended. */
  add(request: Abortable): () => void {
    this.#requests.add(request)
    return () => {
      this.#requests.delete(request)
      if (this.#requests.size === 0) for (const proceed of this.#waiting.splice(0)) proceed()
    }
  }

  /** Resolves when there are none. */
  async whenIdle(): Promise<void> {
    if (this.#requests.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Aborts them all. */
  destroy(reason: Error): void {
    for (const request of this.#requests) request.abort(reason)
  }
}

/** The pools of all dispatchers with the same identity; each dispatcher has its own. */
class PoolsByOwner implements Closable {
  readonly #pools = new Map<object, Pools>()
  #isClosed = false

  of(owner: object, make: () => Pools): Pools {
    const known = this.#pools.get(owner)
    if (known !== undefined) return known
    const made = make()
    this.#pools.set(owner, made)
    // The identity was retired while a request held its lease: the pools end after that request.
    if (this.#isClosed) void made.close()
    return made
  }

  /** Forgets pools that have ended. */
  delete(owner: object): void {
    this.#pools.delete(owner)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#pools.values()].map((pools) => pools.close()))
  }

  async destroy(reason: Error): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#pools.values()].map((pools) => pools.destroy(reason)))
  }
}
