import type { FlagName } from './flag-table.ts'

/** The flags given on the command line. An empty value counts as not given, as in kubectl. */
export class FlagValues {
  readonly #given: ReadonlyMap<FlagName, readonly string[]>

  /** @param given Values in the order they were typed; those of boolean flags are `true` and `false`. */
  constructor(given: ReadonlyMap<FlagName, readonly string[]>) {
    this.#given = given
  }

  get names(): FlagName[] {
    return [...this.#given.keys()]
  }

  /** Returns the last value given. */
  text(name: FlagName): string | undefined {
    return this.#given.get(name)?.at(-1) || undefined
  }

  list(name: FlagName): readonly string[] {
    return this.#given.get(name) ?? []
  }

  /** Returns undefined if the boolean flag was not given, which differs from `--flag=false`. */
  isOn(name: FlagName): boolean | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : value === 'true'
  }

  /** The verbosity: `-v` is 1, `-vv` and `-v=2` are 2. */
  get verbosity(): number {
    return this.list('v').reduce((sum, level) => sum + Number(level), 0)
  }
}
