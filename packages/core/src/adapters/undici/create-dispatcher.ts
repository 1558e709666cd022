import { explainNetworkError } from '../../dial/network-errors.ts'
import type { Target } from '../../dial/target.ts'
import { UNTRUSTED_REASONS } from '../../errors/transport-errors.ts'
import type { ConnectionOwner } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import type { Closable } from '../../keeper/resource-cache.ts'
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

/** undici's callbacks, for those who do not await. */
type Done = (error: Error | null, nothing: null) => void

/**
 * Makes a dispatcher of the user's undici that sends with the credential of a cluster.
 *
 * It is a real `Dispatcher`: `request`, `stream`, `pipeline`, `upgrade` and `compose` work, and it can be
 * given to `undici.fetch` or `setGlobalDispatcher`. It reaches this cluster and nothing else.
 *
 * @param undici The module itself: `import * as undici from 'undici'`, version 6, 7 or 8.
 * @throws {TypeError} When one of the arguments is something else.
 */
export function createDispatcher<Module extends UndiciModule>(
  cluster: HasLine,
  undici: Module,
  options: DispatcherOptions = {},
): InstanceType<Module['Dispatcher']> {
  const line = lineOf(cluster, 'createDispatcher')
  checkModule(undici)
  const known = undici as unknown as Undici
  const core = new DispatcherCore(line, known, readOptions(options, undici))
  // Everything is in the core: undici calls these methods also on a Proxy, which has no private fields.
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
    "createDispatcher(cluster, undici) takes the module itself: import * as undici from 'undici'",
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

/** What a dispatcher of ours is, apart from the class that undici wants it to have. */
class DispatcherCore implements UserConnections {
  /** Called with what happens to connections. */
  onEvent: (name: PoolEvent, origin: URL, targets: object[], error?: Error) => void = () => {}
  readonly line: Line
  readonly isForeign = false
  readonly #undici: Undici
  readonly #optionsFor: OptionsFor
  readonly #ongoing = new InFlight()
  /** Our pools, under this identity and those before it that are not done yet. */
  readonly #pools = new Set<Pools>()
  readonly #stopEnding: () => void
  #closed: Promise<void> | undefined
  #destroyed: Promise<void> | undefined
  #isEnded = false

  constructor(line: Line, undici: Undici, optionsFor: OptionsFor) {
    this.line = line
    this.#undici = undici
    this.#optionsFor = optionsFor
    this.#stopEnding = line.endWith(this)
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
    return this.#ongoing.add(request)
  }

  open(target: Target, { credential: { certificate }, derived }: ConnectionOwner): Pools {
    const owners = derived.get('user undici', target.key, () => new PoolsByOwner())
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

  /** Network errors stay undici's own: programs, and undici's retry, look at their codes. */
  explain(error: unknown, origin: string): unknown {
    const { code = '' } = (error ?? {}) as { code?: string }
    const isAboutTrust =
      certificateAlert(error) !== undefined || UNTRUSTED_REASONS[code] !== undefined
    return isAboutTrust ? explainNetworkError(error, origin) : error
  }

  aborted(): Error {
    return new this.#undici.errors.RequestAbortedError()
  }

  /** Lets what is on its way finish. Connections that an upgrade handed over stay with their users. */
  close(): Promise<void> {
    if (this.isDestroyed) return Promise.reject(new this.#undici.errors.ClientDestroyedError())
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Ends everything now. */
  destroy(reason: Error = new this.#undici.errors.ClientDestroyedError()): Promise<void> {
    this.#destroyed ??= this.#destroy(reason)
    return this.#destroyed
  }

  async #close(): Promise<void> {
    await this.#ongoing.whenIdle()
    const pools = [...this.#pools]
    await Promise.all(pools.map((each) => each.closePools()))
    this.#isEnded = true
    // Until then the cluster must be able to end what was handed over.
    void Promise.all(pools.map((each) => each.close())).then(this.#stopEnding)
  }

  async #destroy(reason: Error): Promise<void> {
    this.#stopEnding()
    this.#ongoing.destroy(reason)
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

/** Something that is on its way. */
interface Abortable {
  abort(reason: Error): void
}

/** Requests that are on their way. */
class InFlight {
  readonly #all = new Set<Abortable>()
  #waiting: (() => void)[] = []

  /** Adds a request. Returns what is to be called when it is over. */
  add(one: Abortable): () => void {
    this.#all.add(one)
    return () => {
      this.#all.delete(one)
      if (this.#all.size === 0) for (const proceed of this.#waiting.splice(0)) proceed()
    }
  }

  /** Resolves when none is on its way. */
  async whenIdle(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Ends all of them. */
  destroy(reason: Error): void {
    for (const one of this.#all) one.abort(reason)
  }
}

/** The pools of several dispatchers under the same identity; none sees those of another. */
class PoolsByOwner implements Closable {
  readonly #pools = new Map<object, Pools>()
  #isClosed = false

  of(owner: object, make: () => Pools): Pools {
    const known = this.#pools.get(owner)
    if (known !== undefined) return known
    const made = make()
    this.#pools.set(owner, made)
    // The identity was retired while somebody held its lease: what they open ends with what they do.
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
