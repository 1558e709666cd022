import { ExecInfoError } from '../errors/authoring-errors.ts'
import { type Fields, isFields, nameType } from './plain-object.ts'

/**
 * Reads typed fields out of one object of `KUBERNETES_EXEC_INFO`, and knows where it stands.
 *
 * As in Go's decoder `null`, an absent key and empty text mean the same: undefined here. A value of another
 * type is an error that names the type that came, never the value.
 */
export class ExecInfoFields {
  readonly #values: Fields
  readonly #path: string

  constructor(values: Fields, path: string) {
    this.#values = values
    this.#path = path
  }

  raw(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? undefined) : undefined
  }

  text(key: string): string | undefined {
    const value = this.raw(key)
    if (value === undefined || value === '') return undefined
    if (typeof value === 'string') return value
    throw this.#wrongType(key, value, 'text belongs')
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key)
    if (value === undefined || typeof value === 'boolean') return value
    throw this.#wrongType(key, value, 'true or false belongs')
  }

  integer(key: string): number | undefined {
    const value = this.raw(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    throw this.#wrongType(key, value, 'a whole number belongs')
  }

  object(key: string): ExecInfoFields | undefined {
    const value = this.raw(key)
    if (value === undefined) return undefined
    if (isFields(value)) return new ExecInfoFields(value, this.#pathOf(key))
    throw this.#wrongType(key, value, 'an object belongs')
  }

  /** An object whose members are lists of text, as Go writes the headers of a response. */
  textLists(key: string): Readonly<Record<string, readonly string[]>> {
    const lists = this.object(key)
    if (lists === undefined) return {}
    return Object.fromEntries(lists.#entries().map(([name]) => [name, lists.#texts(name)]))
  }

  error(key: string, what: string, hint: string): ExecInfoError {
    return new ExecInfoError(this.#pathOf(key), what, { hint })
  }

  #texts(key: string): readonly string[] {
    const value = this.raw(key) ?? []
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
    if (isList) return value
    throw this.#wrongType(key, value, 'a list of texts belongs')
  }

  #entries(): readonly [string, unknown][] {
    return Object.entries(this.#values)
  }

  #pathOf(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`
  }

  #wrongType(key: string, value: unknown, expected: string): ExecInfoError {
    return this.error(
      key,
      `is ${nameType(value)} where ${expected}`,
      'Report it to the author of the client: it does not follow the protocol.',
    )
  }
}
