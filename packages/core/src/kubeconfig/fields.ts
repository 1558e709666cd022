import { KubeconfigSyntaxError } from '../errors/index.ts'
import { decodeBase64 } from '../formats/base64.ts'
import { Secret } from '../secret/secret.ts'

/**
 * Reads typed fields out of one mapping of a kubeconfig, and knows where it stands.
 *
 * As in Go's decoder, `null`, an absent key and empty text mean the same, unknown keys are ignored, and a
 * value of another type is an error. The error shows the type that came, never the value.
 */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #file: string
  readonly #path: () => string

  /** @param path Called for messages only: most of ten thousand entries are in none. */
  constructor(value: unknown, file: string, path: () => string) {
    this.#file = file
    this.#path = path
    if (value !== null && value !== undefined && !isMapping(value)) {
      throw this.#wrongType('', 'a mapping', value, 'Write it as lines of the form "key: value".')
    }
    this.#values = isMapping(value) ? value : {}
  }

  text(key: string): string | undefined {
    const value = this.raw(key)
    if (value === undefined || value === '') return undefined
    if (typeof value === 'string') return value
    throw this.#wrongType(key, 'text', value, textHint(value))
  }

  secret(key: string): Secret | undefined {
    const value = this.text(key)
    return value === undefined ? undefined : new Secret(value)
  }

  flag(key: string): boolean {
    const value = this.raw(key)
    if (value === undefined) return false
    if (typeof value === 'boolean') return value
    throw this.#wrongType(key, 'true or false', value, 'Write true or false, without quotes.')
  }

  /** Text in standard base64, decoded. */
  data(key: string): string | undefined {
    const encoded = this.text(key)
    if (encoded === undefined) return undefined
    const decoded = decodeBase64(encoded)
    if (decoded !== undefined) return decoded === '' ? undefined : decoded
    throw this.error(
      key,
      'is not valid base64',
      `Encode the PEM file again (base64 -w0 FILE), or name the file in ${key.replace(/-data$/, '')}.`,
    )
  }

  list(key: string): readonly unknown[] {
    const value = this.raw(key)
    if (value === undefined) return []
    if (Array.isArray(value)) return value
    throw this.#wrongType(key, 'a list', value, 'Write it as a list, each item after a dash.')
  }

  /** A list of texts; `null` in it is empty text, as in Go. */
  texts(key: string): readonly string[] {
    return this.list(key).map((item, index) => {
      if (item === null) return ''
      if (typeof item === 'string') return item
      throw this.#wrongType(`${key}[${index}]`, 'text', item, textHint(item))
    })
  }

  /** The mapping under `key`, or an empty one; `path` replaces its path in messages. */
  mapping(key: string, path: () => string = () => this.pathOf(key)): Fields {
    return new Fields(this.raw(key), this.#file, path)
  }

  /** The items of a list as mappings. */
  mappings(key: string): readonly Fields[] {
    return this.list(key).map((item, index) => {
      return new Fields(item, this.#file, () => this.pathOf(`${key}[${index}]`))
    })
  }

  keys(): readonly string[] {
    return Object.keys(this.#values)
  }

  /** The value as it came; undefined when absent or `null`. */
  raw(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? undefined) : undefined
  }

  pathOf(key: string): string {
    return [this.#path(), key].filter((part) => part !== '').join('.')
  }

  error(key: string, what: string, hint: string): KubeconfigSyntaxError {
    const path = this.pathOf(key)
    return new KubeconfigSyntaxError(this.#file, path === '' ? what : `${path} ${what}`, { hint })
  }

  #wrongType(key: string, expected: string, value: unknown, hint: string): KubeconfigSyntaxError {
    const what = `must be ${expected}, not ${typeName(value)}`
    return this.error(key, this.pathOf(key) === '' ? `the file ${what}` : what, hint)
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeName(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'bigint') return 'a number'
  if (typeof value === 'string') return 'text'
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`
}

function textHint(value: unknown): string {
  return typeof value === 'object'
    ? 'Write plain text there; check the indentation.'
    : 'Put the value in quotes, so that YAML takes it for text.'
}
