import type { Clock } from '../ports/clock.ts'
import type { Report } from '../sources/source.ts'

/** Tells when a vault runs dry, freezes and thaws: each once, when it happens. */
export class VaultNews {
  readonly #report: (event: Report) => void
  readonly #clock: Clock
  #hasSome = false
  #frozenSince: number | undefined

  constructor(report: (event: Report) => void, clock: Clock) {
    this.#report = report
    this.#clock = clock
  }

  /** Milliseconds since the epoch; undefined while requests need not wait. */
  get frozenSince(): number | undefined {
    return this.#frozenSince
  }

  /** Whether something could be used when this was last told. */
  get hasSome(): boolean {
    return this.#hasSome
  }

  /** Something can be used, as a login or a server has just shown. */
  noteSome(): void {
    this.#hasSome = true
  }

  /** Nothing can be used. That is news only if something could before. */
  noteNone(): void {
    if (!this.#hasSome) return
    this.#hasSome = false
    this.#report({ type: 'depleted' })
  }

  noteFrozen(): void {
    if (this.#frozenSince !== undefined) return
    this.#frozenSince = this.#clock.now()
    this.#report({ type: 'frozen' })
  }

  noteThawed(): void {
    if (this.#frozenSince === undefined) return
    const frozenMs = Math.max(0, this.#clock.now() - this.#frozenSince)
    this.#frozenSince = undefined
    this.#report({ type: 'thawed', frozenMs })
  }
}
