import { KubeconfigSyntaxError } from '../errors/index.ts'
import { decodeBase64 } from '../formats/base64.ts'
import { isFields } from '../formats/plain-object.ts'
import { Secret } from '../secret/secret.ts'
import type { EntryOf, EntryValues, FieldTable, Kind } from './fields.ts'

/** Makes the errors about one document. They name a field and a type, never a value. */
export interface FieldErrors {
  /** @param path Empty for the document itself. */
  error(path: string, what: string, hint: string): Error
  wrongType(path: string, expected: string, value: unknown): Error
  notBase64(path: string, key: string): Error
}

/**
 * Reads typed fields out of one mapping of a kubeconfig or of exec info, and knows where it stands.
 *
 * As in Go's decoder, `null`, an absent key and empty text mean the same, unknown keys are ignored, and a
 * value of another type is an error.
 */
export class FieldReader {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #errors: FieldErrors
  readonly #path: () => string

  /** @param path Called for messages only: most of ten thousand entries are in none. */
  constructor(value: unknown, errors: FieldErrors, path: () => string = () => '') {
    this.#errors = errors
    this.#path = path
    if (value !== null && value !== undefined && !isFields(value)) {
      throw this.wrongType('', 'a mapping', value)
    }
    this.#values = value ?? {}
  }

  /** Reads every field of a table; what is secret is in a box at once. */
  entry<T extends FieldTable>(table: T): EntryOf<T> {
    const values = Object.entries(table).map(([name, { key, kind }]) => {
      return [name, READ[kind](this, key)]
    })
    return Object.fromEntries(values) as EntryOf<T>
  }

  text(key: string): string | undefined {
    const value = this.raw(key)
    if (value === undefined || value === '') return undefined
    if (typeof value === 'string') return value
    throw this.wrongType(key, 'text', value)
  }

  secret(key: string): Secret | undefined {
    return boxed(this.text(key))
  }

  boolean(key: string): boolean | undefined {
    const value = this.raw(key)
    if (value === undefined || typeof value === 'boolean') return value
    throw this.wrongType(key, 'true or false', value)
  }

  /** Text in standard base64, decoded. */
  data(key: string): string | undefined {
    const encoded = this.text(key)
    if (encoded === undefined) return undefined
    const decoded = decodeBase64(encoded)
    if (decoded !== undefined) return decoded === '' ? undefined : decoded
    throw this.#errors.notBase64(this.pathOf(key), key)
  }

  list(key: string): readonly unknown[] {
    const value = this.raw(key)
    if (value === undefined) return []
    if (Array.isArray(value)) return value
    throw this.wrongType(key, 'a list', value)
  }

  /** A list of texts; `null` in it is empty text, as in Go. */
  texts(key: string): readonly string[] {
    return this.list(key).map((item, index) => {
      if (item === null) return ''
      if (typeof item === 'string') return item
      throw this.wrongType(`${key}[${index}]`, 'text', item)
    })
  }

  /** A mapping of lists of texts. */
  textLists(key: string): ReadonlyMap<string, readonly string[]> {
    const lists = this.mapping(key)
    if (lists.keys().length === 0) return NO_LISTS
    return new Map(lists.keys().map((name) => [name, lists.texts(name)]))
  }

  /** The mapping under `key`, or an empty one; `path` replaces its path in messages. */
  mapping(key: string, path: () => string = () => this.pathOf(key)): FieldReader {
    return new FieldReader(this.raw(key), this.#errors, path)
  }

  /** The items of a list as mappings. */
  mappings(key: string): readonly FieldReader[] {
    return this.list(key).map((item, index) => {
      return new FieldReader(item, this.#errors, () => this.pathOf(`${key}[${index}]`))
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

  error(key: string, what: string, hint: string): Error {
    return this.#errors.error(this.pathOf(key), what, hint)
  }

  wrongType(key: string, expected: string, value: unknown): Error {
    return this.#errors.wrongType(this.pathOf(key), expected, value)
  }
}

const READ: { readonly [K in Kind]: (reader: FieldReader, key: string) => EntryValues[K] } = {
  text: (reader, key) => reader.text(key),
  path: (reader, key) => reader.text(key),
  data: (reader, key) => reader.data(key),
  secret: (reader, key) => reader.secret(key),
  'secret data': (reader, key) => boxed(reader.data(key)),
  boolean: (reader, key) => reader.boolean(key) ?? false,
  list: (reader, key) => reader.texts(key),
  map: (reader, key) => reader.textLists(key),
}

/** One for all entries without any. */
const NO_LISTS: ReadonlyMap<string, readonly string[]> = new Map()

function boxed(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text)
}

/** The fields of a table in an entry in which none is set. */
export function emptyEntry<T extends FieldTable>(table: T): EntryOf<T> {
  return new FieldReader({}, kubeconfigErrors('')).entry(table)
}

/** Makes the errors about a kubeconfig. */
export function kubeconfigErrors(file: string): FieldErrors {
  const error = (path: string, what: string, hint: string): Error =>
    new KubeconfigSyntaxError(file, path === '' ? what : `${path} ${what}`, { hint })
  return {
    error,
    wrongType(path, expected, value) {
      const what = `must be ${expected}, not ${typeName(value)}`
      return error(path, path === '' ? `the file ${what}` : what, hintOf(expected, value))
    },
    notBase64: (path, key) =>
      error(
        path,
        'is not valid base64',
        `Encode the PEM file again (base64 -w0 FILE), or name the file in ${key.replace(/-data$/, '')}.`,
      ),
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'bigint') return 'a number'
  if (typeof value === 'string') return 'text'
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`
}

function hintOf(expected: string, value: unknown): string {
  switch (expected) {
    case 'a mapping':
      return 'Write it as lines of the form "key: value".'
    case 'a list':
      return 'Write it as a list, each item after a dash.'
    case 'true or false':
      return 'Write true or false, without quotes.'
    default:
      return typeof value === 'object'
        ? 'Write plain text there; check the indentation.'
        : 'Put the value in quotes, so that YAML takes it for text.'
  }
}
