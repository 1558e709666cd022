import { type CredentialEvent, LOAD, type SourceLabel, type VaultLoad } from '../ports/observer.ts'
import type { Description, Instrument, Sample } from './family.ts'

/**
 * The vaults that are in use, to be asked when somebody wants to know.
 *
 * A vault counts from the moment a connection borrows it until the last one releases it.
 */
export class VaultLoads {
  readonly #users = new Map<SourceLabel, number>()

  note({ type, source }: CredentialEvent): void {
    const users = this.#users.get(source) ?? 0
    if (type === 'borrowed' && source[LOAD] !== undefined) this.#users.set(source, users + 1)
    else if (type === 'released' && users > 1) this.#users.set(source, users - 1)
    else if (type === 'released') this.#users.delete(source)
  }

  /** Adds up one number of all of them. */
  sum(read: (load: VaultLoad) => number): number {
    return [...this.#users.keys()]
      .map((source) => source[LOAD]?.())
      .reduce((sum, load) => sum + (load === undefined ? 0 : read(load)), 0)
  }
}

/** A number of all vaults together, read when asked. */
export class VaultGauge implements Instrument {
  readonly type = 'gauge'
  readonly aggregator = 'sum'
  readonly name: string
  readonly help: string
  readonly #vaults: VaultLoads
  readonly #read: (load: VaultLoad) => number

  constructor({ name, help }: Description, vaults: VaultLoads, read: (load: VaultLoad) => number) {
    this.name = name
    this.help = help
    this.#vaults = vaults
    this.#read = read
  }

  samples(): readonly Sample[] {
    return [{ name: this.name, labels: {}, value: this.#vaults.sum(this.#read) }]
  }

  /** What is so stays so. */
  reset(): void {}
}
