import { KubeconfigSyntaxError } from '../errors/index.ts'
import { decodeBase64 } from '../formats/base64.ts'
import { describeType, isFields } from '../formats/plain-object.ts'
import { Secret } from '../secret/secret.ts'
import type { EntryOf, EntryValues, FieldTable, Kind } from './fields.ts'

/** Creates the errors about one document. They contain a field and a type, never a value. */
export interface FieldErrors {
  /** @param path Empty for the document itself. */
  error(path: string, what: string, hint: string): Error
  wrongType(path: string, expected: string, value: unknown): Error
  notBase64(path: string, key: string): Error
}

/**
 * Reads typed fields of one mapping in a kubeconfig or exec info, and knows the path of the mapping for errors.
 *
 * As in Go's decoder, `null`, an absent key and an empty string mean the same, unknown keys are ignored, and a value of
 * another type is an error.
 */
export class FieldReader {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #errors: FieldErrors
  readonly #path: () => string

  /** @param path Called only for messages: computing it for 10,000 entries takes time. */
  constructor(value: unknown, errors: FieldErrors, path: () => string = () => '') {
    this.#errors = errors
    this.#path = path
    if (value !== null && value !== undefined && !isFields(value)) {
      throw this.wrongType('', 'a mapping', value)
    }
    this.#values = value ?? {}
  }

  /** Returns every field of a table, with secrets wrapped in `Secret`. */
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
    throw this.wrongType(key, 'a string', value)
  }

  secret(key: string): Secret | undefined {
    return toSecret(this.text(key))
  }

  boolean(key: string): boolean | undefined {
    const value = this.raw(key)
    if (value === undefined || typeof value === 'boolean') return value
    throw this.wrongType(key, 'true or false', value)
  }

  /** Returns a string in standard base64, decoded. */
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

  /** Returns a list of strings; a `null` item is an empty string, as in Go. */
  texts(key: string): readonly string[] {
    return this.list(key).map((item, index) => {
      if (item === null) return ''
      if (typeof item === 'string') return item
      throw this.wrongType(`${key}[${index}]`, 'a string', item)
    })
  }

  /** Returns a mapping of lists of strings. */
  textLists(key: string): ReadonlyMap<string, readonly string[]> {
    const lists = this.mapping(key)
    if (lists.keys().length === 0) return NO_LISTS
    return new Map(lists.keys().map((name) => [name, lists.texts(name)]))
  }

  /** Returns a reader for the mapping under `key`, or for an empty one; `path` replaces its path in messages. */
  mapping(key: string, path: () => string = () => this.pathOf(key)): FieldReader {
    return new FieldReader(this.raw(key), this.#errors, path)
  }

  /** Returns readers for the items of a list of mappings. */
  mappings(key: string): readonly FieldReader[] {
    return this.list(key).map((item, index) => {
      return new FieldReader(item, this.#errors, () => this.pathOf(`${key}[${index}]`))
    })
  }

  keys(): readonly string[] {
    return Object.keys(this.#values)
  }

  /** Returns the unchecked value; undefined if it is absent or `null`. */
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
  'secret data': (reader, key) => toSecret(reader.data(key)),
  boolean: (reader, key) => reader.boolean(key) ?? false,
  list: (reader, key) => reader.texts(key),
  map: (reader, key) => reader.textLists(key),
}

/** Shared by all entries that have none. */
const NO_LISTS: ReadonlyMap<string, readonly string[]> = new Map()

function toSecret(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text)
}

/** Returns an entry in which no field of a table is set. */
export function createEmptyEntry<T extends FieldTable>(table: T): EntryOf<T> {
  return new FieldReader({}, kubeconfigErrors('')).entry(table)
}

/** Creates the errors about a kubeconfig file. */
export function kubeconfigErrors(file: string): FieldErrors {
  const error = (path: string, what: string, hint: string): Error =>
    new KubeconfigSyntaxError(file, path === '' ? what : `${path} ${what}`, { hint })
  return {
    error,
    wrongType(path, expected, value) {
      const what = `must be ${expected}, not ${typeName(value)}`
      return error(path, path === '' ? `the document ${what}` : what, typeHint(expected, value))
    },
    notBase64: (path, key) =>
      error(
        path,
        'is not valid base64',
        `Encode the PEM file again (base64 -w0 FILE), or name the file in ${key.replace(/-data$/, '')}.`,
      ),
  }
}

/** YAML's word for an object is a mapping. */
function typeName(value: unknown): string {
  return isFields(value) ? 'a mapping' : describeType(value)
}

function typeHint(expected: string, value: unknown): string {
  switch (expected) {
    case 'a mapping':
      return 'Write it as lines of the form "key: value".'
    case 'a list':
      return 'Write it as a list, with a dash in front of each item.'
    case 'true or false':
      return 'Write true or false, without quotes.'
    default:
      return typeof value === 'object'
        ? 'Write a string, and check the indentation.'
        : 'Put the value in quotes, so that YAML reads it as a string.'
  }
}
