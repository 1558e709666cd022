import type { ConnectionOptions } from 'node:tls'
import { tlsOptionsFor } from '../dial/dial.ts'
import { NotSupportedError } from '../errors/index.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import type { Lease } from '../keeper/lease.ts'
import { attachLease } from '../request/headers.ts'
import type { Line } from '../request/line.ts'

/** Options for `tls.connect()` and `https.Agent`: how to verify the server, and the client certificate. `key` is a secret. */
export interface TlsOptions
  extends Pick<
    ConnectionOptions,
    'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized' | 'checkServerIdentity'
  > {
  /** For `new https.Agent()`: a resumed TLS session would keep the certificate it started with. */
  readonly maxCachedSessions: 0
}

/** How many exposed credentials are remembered, to find the one that a report is about. */
const MAX_REMEMBERED = 16

/**
 * Exposes the credential as plain values, for HTTP clients without an adapter.
 *
 * Exposed values are not refreshed, and kubecred does not see the server's response. So the caller must report a
 * refusal.
 */
export class ExposedValues {
  readonly #line: Line
  /** The exposed credentials, newest first. */
  #exposed: readonly Lease[] = []

  constructor(line: Line) {
    this.#line = line
  }

  async headers(signal?: AbortSignal): Promise<HeaderValues> {
    const lease = await this.#lease(signal)
    const headers: HeaderValues = {}
    for (const [name, value] of Object.entries(this.#line.defaults)) {
      if (name.startsWith('impersonate-')) headers[name] = Array.isArray(value) ? [...value] : value
    }
    return attachLease(headers, lease)
  }

  async tlsOptions(signal?: AbortSignal): Promise<TlsOptions> {
    const lease = await this.#lease(signal)
    const { certificate } = lease.credential
    if (certificate?.signingKey !== undefined) throw externalKeyError()
    const secured = tlsOptionsFor(this.#line.targetOf(lease), certificate)
    return { ...secured, maxCachedSessions: 0 }
  }

  /** Finds the credential by content: callers copy headers and add their own. */
  async reportRefused(refused: object, status: number, signal?: AbortSignal): Promise<boolean> {
    this.#line.checkOpen()
    const lease = this.#find(refused)
    if (lease === undefined) return false
    const better = await this.#line.keeper.replace(lease, { status, headers: {} }, signal)
    return better !== undefined
  }

  /** Finds the exposed credential that was refused. Headers without an authorization belong to a certificate. */
  #find(refused: unknown): Lease | undefined {
    const { authorization, cert } = readRefused(refused)
    const lease = this.#exposed.find((each) =>
      authorization === undefined && cert !== undefined
        ? each.credential.certificate?.chain === String(cert)
        : each.authorization === authorization,
    )
    const isEmpty = authorization === undefined && cert === undefined
    if (lease === undefined && isEmpty && this.#exposed.length > 0) throw invalidRefusedError()
    return lease
  }

  async #lease(signal: AbortSignal | undefined): Promise<Lease> {
    this.#line.checkOpen()
    const lease = await this.#line.leaseForCurrentServer(signal)
    this.#line.checkOpen()
    if (isSplitIdentity(lease)) throw splitIdentityError()
    const others = this.#exposed.filter((each) => each !== lease)
    this.#exposed = [lease, ...others].slice(0, MAX_REMEMBERED)
    return lease
  }
}

/** Whether the identity is split over headers and certificate: between two calls the lease may change. */
function isSplitIdentity({ endpoint, credential }: Lease): boolean {
  return endpoint?.impersonate !== undefined && credential.certificate !== undefined
}

function splitIdentityError(): NotSupportedError {
  return new NotSupportedError(
    'this login has a certificate and impersonates another user: its headers and certificate cannot be exposed separately',
    { hint: 'Send requests with cluster.fetch or through an adapter.' },
  )
}

function externalKeyError(): NotSupportedError {
  return new NotSupportedError('the private key of this user is not in this process', {
    hint: 'Send requests with cluster.fetch or through an adapter, which let the key sign.',
  })
}

/** The values in what a caller used that identify a credential. */
export interface RefusedValues {
  readonly authorization: unknown
  readonly cert: unknown
}

/**
 * Finds the credential in what a caller used: the exposed values, a copy in the form of its client, or the options of a
 * whole request.
 *
 * @throws {TypeError} If it is not an object.
 */
export function readRefused(given: unknown): RefusedValues {
  if (typeof given !== 'object' || given === null) throw invalidRefusedError()
  const { cert, headers } = given as { cert?: unknown; headers?: unknown }
  return { authorization: findAuthorization(given) ?? findAuthorization(headers), cert }
}

/** Does not quote what was passed, which may be a secret. */
export function invalidRefusedError(): TypeError {
  return new TypeError(
    'reportRefused() takes what cluster.headers() or cluster.tlsOptions() returned, or a copy that still has the authorization or the cert',
  )
}

function findAuthorization(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined
  for (const [name, value] of headerPairs(headers)) {
    if (String(name).toLowerCase() === 'authorization') return [value].flat()[0]
  }
  return undefined
}

/** Returns the entries of an array of pairs, a `Headers` or a plain object. */
function headerPairs(headers: object): [unknown, unknown][] {
  if (!(Symbol.iterator in headers)) return Object.entries(headers)
  return [...(headers as Iterable<unknown>)].filter(
    (each): each is [unknown, unknown] => Array.isArray(each) && each.length === 2,
  )
}
