import { ConnectionInfoError } from '../errors/index.ts'
import { type ConnectionFields, FIELD_KINDS, SECRET_FIELDS } from './connection-fields.ts'
import { type Login, readFields } from './read-connection-info.ts'

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * A checked `ConnectionFields`: where to connect, and with which credential.
 *
 * The constructor checks everything that can be checked without reading a file. Printing or serialising it shows which
 * fields are set, but no secrets.
 *
 * @throws {ConnectionInfoError} `ERR_CONNECTION_INFO` with every field that is invalid.
 *
 * @example
 * const info = new ConnectionInfo({ server: 'https://10.0.0.1:6443', caPath: '~/ca.pem', token: 'example' })
 * console.log(info.server, info.expiresAt)
 */
export class ConnectionInfo {
  readonly #shown: Readonly<Record<string, unknown>>
  readonly #login: Login

  constructor(fields: ConnectionFields | Login) {
    const isLogin = 'connection' in fields
    this.#login = isLogin ? fields : readFields(fields)
    this.#shown = isLogin ? showLogin(fields) : show(fields)
  }

  /**
   * Makes a `ConnectionInfo` of what a handler returned: a `ConnectionInfo`, or an object with its fields.
   *
   * @throws {ConnectionInfoError} `ERR_CONNECTION_INFO` if it is neither, or a field is invalid.
   */
  static from(value: unknown): ConnectionInfo {
    if (value instanceof ConnectionInfo) return value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ConnectionInfoError([
        `a login handler must return a ConnectionInfo or nothing, not ${nameOf(value)}`,
      ])
    }
    // A handler must not be able to pass a `Login`, which the constructor does not check.
    if ('connection' in value) throw new ConnectionInfoError(['there is no field "connection"'])
    return new ConnectionInfo(value as ConnectionFields)
  }

  get server(): string {
    return this.#login.connection.cluster.server
  }

  get defaultNamespace(): string {
    return this.#login.connection.namespace
  }

  get priority(): number {
    return this.#login.priority
  }

  /** Milliseconds since the epoch; undefined if the credential does not expire. */
  get expiresAt(): number | undefined {
    const { expiresAt } = this.#login
    return Number.isFinite(expiresAt) ? expiresAt : undefined
  }

  /** @internal */
  get login(): Login {
    return this.#login
  }

  toJSON(): Readonly<Record<string, unknown>> {
    return this.#shown
  }

  [INSPECT](): string {
    return `ConnectionInfo ${JSON.stringify(this.#shown)}`
  }
}

function showLogin({ connection: { cluster, user } }: Login): Record<string, unknown> {
  return { server: cluster.server, ...(user.impersonate && { as: user.impersonate.user }) }
}

function show(fields: ConnectionFields): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null || !Object.hasOwn(FIELD_KINDS, name)) continue
    shown[name] = SECRET_FIELDS.has(name)
      ? '[secret]'
      : FIELD_KINDS[name as keyof ConnectionFields] === 'key'
        ? '[key]'
        : name.endsWith('Data')
          ? '[data]'
          : value
  }
  return shown
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
