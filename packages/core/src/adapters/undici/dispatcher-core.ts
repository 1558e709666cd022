import { explainNetworkError } from '../../dial/network-errors.ts'
import type { Target } from '../../dial/target.ts'
import { UNTRUSTED } from '../../errors/connection-reasons.ts'
import type { ConnectionOwner } from '../../exchange/exchange.ts'
import type { Handler } from '../../exchange/handler.ts'
import type { Line } from '../../request/line.ts'
import { readAlert } from '../../tls/read-alert.ts'
import { dispatch, type UserConnections } from './dispatch.ts'
import type { OptionsFor } from './dispatcher-options.ts'
import type { HandlerCaller } from './handler-caller.ts'
import type { LegacyHandler } from './handlers.ts'
import { Ongoing } from './ongoing.ts'
import { Pools } from './pools.ts'
import { PoolsByOwner } from './pools-by-owner.ts'
import type { DispatchOptions, Pool, Undici } from './undici-module.ts'

type PoolEvent = 'connect' | 'disconnect' | 'connectionError'

/** What a dispatcher of ours is, apart from the class that undici wants it to have. */
export class DispatcherCore implements UserConnections {
  /** Called with what happens to connections. */
  onEvent: (name: PoolEvent, origin: URL, targets: object[], error?: Error) => void = () => {}
  readonly line: Line
  readonly isForeign = false
  readonly #undici: Undici
  readonly #optionsFor: OptionsFor
  readonly #ongoing = new Ongoing()
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
    const isAboutTrust = readAlert(error) !== undefined || UNTRUSTED[code] !== undefined
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
