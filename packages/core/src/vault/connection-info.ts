import { ConnectionInfoError } from '../errors/index.ts'
import { type ConnectionFields, FIELD_KINDS, SECRET_FIELDS } from './connection-fields.ts'
import { type Login, readFields } from './read-connection-info.ts'

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/**
 * Where to connect, and as whom.
 *
 * Everything that can be checked without reading a file is checked when it is made. Printing or
 * serialising it shows which fields are set, and no secret.
 *
 * @throws {ConnectionInfoError} With every field that cannot be used.
 */
export class ConnectionInfo {
  readonly #shown: Readonly<Record<string, unknown>>
  readonly #login: Login

  constructor(fields: ConnectionFields | Login) {
    const isLogin = 'connection' in fields
    this.#login = isLogin ? fields : readFields(fields)
    this.#shown = isLogin ? showLogin(fields) : show(fields)
  }

  /** Takes what a handler returned: one of these, or an object with the same fields. */
  static from(value: unknown): ConnectionInfo {
    if (value instanceof ConnectionInfo) return value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ConnectionInfoError([
        `a login handler must return a ConnectionInfo or nothing, not ${nameOf(value)}`,
      ])
    }
    // What a handler returns is never our own form, whatever it calls its fields.
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

  /** Milliseconds since the epoch; undefined when it has no end. */
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
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
