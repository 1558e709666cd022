import { UNTRUSTED } from '../../errors/connection-reasons.ts'
import type { ExecResponse } from '../../protocol/encode-exec-info.ts'
import type { Line } from '../../transport/line.ts'
import { explainNetworkError, readAlert } from '../../transport/network-errors.ts'
import { unansweredRefusal } from '../../transport/refusal.ts'
import type { Lease } from '../../vault/lease.ts'
import type { Attempt } from './attempt.ts'
import type { BothWays } from './both-ways.ts'
import { canGoAgain } from './can-go-again.ts'
import type { OptionsFor } from './dispatcher-options.ts'
import type { Handler, LegacyHandler } from './handlers.ts'
import { Ongoing } from './ongoing.ts'
import { OnlyHttp1Error, Pools } from './pools.ts'
import { PoolsByOwner } from './pools-by-owner.ts'
import { send } from './send.ts'
import type { Way } from './sending-parts.ts'
import type { DispatchOptions, Pool, Undici } from './undici-module.ts'

type PoolEvent = 'connect' | 'disconnect' | 'connectionError'

/** What a dispatcher of ours is, apart from the class that undici wants it to have. */
export class DispatcherCore implements Way {
  /** Called with what happens to connections. */
  onEvent: (name: PoolEvent, origin: URL, targets: object[], error?: Error) => void = () => {}
  readonly #line: Line
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
    this.#line = line
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
    return send(request, handler, {
      line: this.#line,
      way: this,
      ongoing: this.#ongoing,
      check: () => this.#check(),
    })
  }

  begin(attempt: Attempt, options: DispatchOptions, handler: BothWays): void {
    const { lease, target } = attempt
    const derived = lease?.derived ?? this.#line.anonymous
    const owners = derived.get('user undici', target.key, () => new PoolsByOwner())
    const pools = owners.of(this, () => {
      const certificate = lease?.credential.certificate
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
    pools.dispatch(attempt, options, handler)
  }

  mends(error: Error, request: DispatchOptions): boolean {
    return error instanceof OnlyHttp1Error || canGoAgain(error, request)
  }

  refusal(error: unknown, lease: Lease): ExecResponse | undefined {
    return unansweredRefusal(error, lease)
  }

  /** Network errors stay undici's own: programs, and undici's retry, look at their codes. */
  explain(error: Error, origin: string): Error {
    const { code = '' } = error as { code?: string }
    const isAboutTrust = readAlert(error) !== undefined || UNTRUSTED[code] !== undefined
    return isAboutTrust ? explainNetworkError(error, origin) : error
  }

  aborted(): Error {
    return new this.#undici.errors.RequestAbortedError()
  }

  /** Lets what is on its way finish. Connections that an upgrade handed over stay with who has them. */
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

  #check(): void {
    this.#line.checkOpen()
    const { ClientClosedError, ClientDestroyedError } = this.#undici.errors
    if (this.isDestroyed) throw new ClientDestroyedError()
    if (this.isClosed) throw new ClientClosedError()
  }

  #forward(pool: Pool): void {
    for (const name of ['connect', 'disconnect', 'connectionError'] as const) {
      pool.on(name, (origin: URL, targets: object[], error?: Error) =>
        this.onEvent(name, origin, targets, error),
      )
    }
  }
}
