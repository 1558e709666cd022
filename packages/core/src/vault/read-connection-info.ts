import { isHeaderSafe } from '../credential/credential.ts'
import type { SigningKey } from '../credential/signing-key.ts'
import { ConnectionInfoError } from '../errors/index.ts'
import { decodeBase64 } from '../formats/base64.ts'
import { withoutUndefined } from '../formats/plain-object.ts'
import { parseExpiration } from '../formats/rfc3339.ts'
import { hasScheme, isUsableServer, normalizeServer } from '../formats/server-url.ts'
import {
  type ClusterTarget,
  type Connection,
  type Material,
  NO_TARGET,
  type UserIdentity,
} from '../kubeconfig/connection.ts'
import { isUsableProxy } from '../kubeconfig/validate.ts'
import { Secret } from '../secret/secret.ts'
import { type ConnectionFields, type DateLike, FIELD_KINDS } from './connection-fields.ts'

/** The checked content of a `ConnectionInfo`, in the form the rest of the library uses. */
export interface Login {
  readonly connection: Connection
  /** Milliseconds since the epoch; `Infinity` if it does not expire. */
  readonly expiresAt: number
  readonly priority: number
  readonly trustEnv: boolean
  /** The scheme before the token; undefined means `Bearer`. */
  readonly scheme: string | undefined
  /** A certificate whose private key is not in this process. */
  readonly signing?: Signing | undefined
}

/** A certificate and the key that signs for it. */
export interface Signing {
  readonly chain: Material
  readonly signingKey: SigningKey
  /** The object that the handler returned: the same object means the same key. */
  readonly given: object
}

type Name = keyof ConnectionFields

/**
 * Checks the fields of a `ConnectionInfo` and converts them.
 *
 * @throws {ConnectionInfoError} `ERR_CONNECTION_INFO` with all problems; it names fields and never shows their values.
 */
export function readFields(given: ConnectionFields): Login {
  const problems: string[] = []
  const fields = new Reader(given, problems)
  const server = readServer(fields)
  const user = readUser(fields)
  const signing = readSigning(fields)
  const expiresAt = readExpiration(given.expiration, problems)
  const cluster = withoutUndefined<ClusterTarget>({
    ...NO_TARGET,
    server,
    tlsServerName: fields.text('tlsServerName'),
    insecureSkipTlsVerify: fields.flag('insecure'),
    certificateAuthority: fields.material('caPath', 'caData'),
    proxyUrl: readProxy(fields),
  })
  const login: Login = {
    connection: {
      namespace: fields.text('defaultNamespace') ?? 'default',
      cluster,
      user,
      warnings: user.token && user.basic ? [TOKEN_WINS] : [],
      origin: 'login',
    },
    expiresAt,
    priority: fields.number('priority'),
    trustEnv: fields.flag('trustEnv'),
    scheme: readScheme(fields, user),
    signing,
  }
  const isPlain = server.startsWith('http:')
  if (isPlain && [user.token, user.basic, user.certificate, login.scheme, signing].some(Boolean)) {
    problems.push('server is plain http, over which credentials are never sent')
  }
  if (problems.length > 0) throw new ConnectionInfoError(problems)
  return login
}

const TOKEN_WINS = 'The login has both a token and a username; the token is used.'

function readServer(fields: Reader): string {
  const server = fields.text('server')
  if (server === undefined) fields.complain('server is missing')
  else if (!hasScheme(server) || !isUsableServer(server)) {
    fields.complain('server is not an http or https URL of the form https://HOST:PORT')
  } else return normalizeServer(server, 'https')
  return ''
}

function readProxy(fields: Reader): Secret | undefined {
  const proxyUrl = secret(fields.text('proxyUrl'))
  if (proxyUrl === undefined || isUsableProxy(proxyUrl)) return proxyUrl
  fields.complain('proxyUrl is not an http, https or socks5 URL')
  return undefined
}

/** `Bearer` is the default: written out, it must not make the credential look different. */
function readScheme(fields: Reader, { token }: UserIdentity): string | undefined {
  const scheme = fields.header('scheme')
  return token !== undefined && scheme === 'Bearer' ? undefined : scheme
}

function readUser(fields: Reader): UserIdentity {
  const username = fields.text('username')
  const password = secret(fields.text('password'))
  const certificate = fields.material('certificatePath', 'certificateData')
  const key = fields.material('privateKeyPath', 'privateKeyData')
  const token = fields.header('token')
  if (username !== undefined && password === undefined) fields.complain('username has no password')
  if (password !== undefined && username === undefined) fields.complain('password has no username')
  if (certificate !== undefined && key === undefined && !fields.has('signingKey')) {
    fields.complain('the certificate has no private key')
  }
  if (key !== undefined && certificate === undefined) {
    fields.complain('the private key has no certificate')
  }
  return withoutUndefined<UserIdentity>({
    token: secret(token),
    basic: username !== undefined && password !== undefined ? { username, password } : undefined,
    certificate: certificate &&
      key && { chain: certificate, key: key.from === 'file' ? key : hidden(key) },
  })
}

function readSigning(fields: Reader): Login['signing'] {
  if (!fields.has('signingKey')) return undefined
  const signingKey = fields.signingKey('signingKey')
  const chain = fields.material('certificatePath', 'certificateData')
  if (fields.has('privateKeyPath') || fields.has('privateKeyData')) {
    fields.complain('signingKey and a private key are both given: give only one')
  }
  if (!fields.has('certificatePath') && !fields.has('certificateData')) {
    fields.complain('the signingKey has no certificate')
  }
  return chain && signingKey && { chain, ...signingKey }
}

function secret(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text)
}

function hidden({ data, ...rest }: Extract<Material, { from: 'data' }>): Material<Secret> {
  return { ...rest, data: new Secret(data) }
}

function readExpiration(value: unknown, problems: string[]): number {
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY
  const time = timeOf(value)
  if (time !== undefined && !Number.isNaN(time)) return time
  const isSeconds = typeof value === 'number' && value > 0 && value < MIN_TIME
  problems.push(
    isSeconds
      ? 'expiration is a number of seconds: pass milliseconds since the epoch'
      : 'expiration is not a time: pass a Date, milliseconds since the epoch, or a string such as 2030-12-31T23:59:59Z',
  )
  return Number.POSITIVE_INFINITY
}

/** 1973 in milliseconds and the year 5138 in seconds: a smaller number is meant as seconds, as the `exp` of a token. */
const MIN_TIME = 100_000_000_000

function timeOf(value: unknown): number | undefined {
  if (isDate(value)) return value.getTime()
  if (typeof value === 'string') return readTime(value)
  const isTime = typeof value === 'number' && Number.isFinite(value) && value >= MIN_TIME
  return isTime ? value : undefined
}

/** Recognises a Date of another realm too. */
function isDate(value: unknown): value is DateLike {
  return typeof value === 'object' && value !== null && 'getTime' in value
}

/** Accepts RFC 3339, and common variants: a space before the time, no time zone (UTC), no time (00:00). */
function readTime(text: string): number | undefined {
  const written = text.trim().replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
  return (
    parseExpiration(written) ??
    parseExpiration(`${written}Z`) ??
    parseExpiration(`${written}T00:00:00Z`)
  )
}

/** Reads fields one by one and collects their problems. */
class Reader {
  readonly #given: Readonly<Record<string, unknown>>
  readonly #problems: string[]

  constructor(given: ConnectionFields, problems: string[]) {
    this.#given = { ...given }
    this.#problems = problems
    for (const name of Object.keys(this.#given)) {
      if (!Object.hasOwn(FIELD_KINDS, name))
        this.complain(`there is no field ${JSON.stringify(name.slice(0, 40))}`)
    }
  }

  complain(problem: string): void {
    this.#problems.push(problem)
  }

  text(name: Name): string | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    if (typeof value === 'string' && value !== '') return value
    this.complain(value === '' ? `${name} is empty` : `${name} is not a string`)
    return undefined
  }

  /** Reads a string that becomes part of a header. */
  header(name: Name): string | undefined {
    const text = this.text(name)
    if (text === undefined || isHeaderSafe(text)) return text
    this.complain(`${name} has a character that is not allowed in an HTTP header`)
    return undefined
  }

  has(name: Name): boolean {
    return this.#value(name) !== undefined
  }

  signingKey(name: Name): Omit<Signing, 'chain'> | undefined {
    const key = this.#value(name) as Partial<SigningKey> | undefined
    const canChoose = key?.choose === undefined || typeof key.choose === 'function'
    if (typeof key?.sign === 'function' && canChoose) {
      const { sign, choose = FIRST } = key
      // Called as methods: a key may keep its device in `this`.
      const signingKey: SigningKey = {
        choose: (schemes, signal) => choose.call(key, schemes, signal),
        sign: (request) => sign.call(key, request),
      }
      return { signingKey, given: key }
    }
    this.complain(`${name} has no function sign(), or a choose that is not a function`)
    return undefined
  }

  flag(name: Name): boolean {
    const value = this.#value(name)
    if (value !== undefined && typeof value !== 'boolean')
      this.complain(`${name} is not true or false`)
    return value === true
  }

  number(name: Name): number {
    const value = this.#value(name) ?? 0
    if (typeof value === 'number' && Number.isFinite(value)) return value
    this.complain(`${name} is not a number`)
    return 0
  }

  /** Reads a file path or its content; only one of them may be given. */
  material(pathName: Name, dataName: Name): Material | undefined {
    const path = this.text(pathName)
    const data = this.#pem(dataName)
    if (path !== undefined && this.#value(dataName) !== undefined) {
      this.complain(`${pathName} and ${dataName} are both given: give only one`)
    }
    if (path !== undefined) return { from: 'file', path, field: pathName }
    return data === undefined ? undefined : { from: 'data', data, field: dataName }
  }

  #value(name: Name): unknown {
    return this.#given[name] ?? undefined
  }

  #pem(name: Name): string | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : value
    if (typeof text !== 'string') {
      this.complain(`${name} is neither a string nor bytes`)
      return undefined
    }
    const pem = text.includes(PEM) ? text : decodeBase64(text.trim())
    if (pem?.includes(PEM)) return pem
    this.complain(`${name} is neither PEM nor base64 of PEM`)
    return undefined
  }
}

const PEM = '-----BEGIN '

const FIRST: SigningKey['choose'] = async ([first]) => first
