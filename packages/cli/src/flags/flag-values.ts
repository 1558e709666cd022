import type { FlagName } from './flag-table.ts'

/** What was given on the command line. An empty value counts as not given, as with kubectl. */
export class FlagValues {
  readonly #given: ReadonlyMap<FlagName, readonly string[]>

  /** @param given Values in the order they were typed; those of switches are `true` and `false`. */
  constructor(given: ReadonlyMap<FlagName, readonly string[]>) {
    this.#given = given
  }

  get names(): FlagName[] {
    return [...this.#given.keys()]
  }

  /** The last value given. */
  text(name: FlagName): string | undefined {
    return this.#given.get(name)?.at(-1) || undefined
  }

  list(name: FlagName): readonly string[] {
    return this.#given.get(name) ?? []
  }

  /** Undefined when the switch was not given at all: `--flag=false` says more than nothing. */
  isOn(name: FlagName): boolean | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : value === 'true'
  }

  /** How talkative to be: `-v` is 1, `-vv` and `-v=2` are 2. */
  get verbosity(): number {
    return this.list('v').reduce((sum, level) => sum + Number(level), 0)
  }
}
