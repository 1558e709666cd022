import type { ConnectionOptions } from 'node:tls'
import { tlsOptionsFor } from '../dial/dial.ts'
import { NotSupportedError } from '../errors/index.ts'
import type { HeaderValues } from '../exchange/exchange.ts'
import type { Lease } from '../keeper/lease.ts'
import { attachLease } from '../request/headers.ts'
import type { Line } from '../request/line.ts'

/** What a TLS client needs to check the server and to show who we are. The key in it is a secret. */
export interface TlsOptions
  extends Pick<
    ConnectionOptions,
    'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized' | 'checkServerIdentity'
  > {
  /** For `new https.Agent()`: a resumed TLS session keeps the identity it began with. */
  readonly maxCachedSessions: 0
}

/** Values that belong to somebody's request now: how many of them we can still tell apart. */
const MOST_REMEMBERED = 16

/**
 * The credential as plain values, for clients that no adapter fits.
 *
 * What is handed out here does not refresh itself, and we do not see the answer. So whoever uses it says
 * when the server refused it.
 */
export class PlainValues {
  readonly #line: Line
  /** The credentials that were handed out, newest first. */
  #handedOut: readonly Lease[] = []

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
    if (certificate?.signingKey !== undefined) throw keyIsElsewhere()
    const secured = tlsOptionsFor(this.#line.targetOf(lease), certificate)
    return { ...secured, maxCachedSessions: 0 }
  }

  /** Compares by content: callers copy headers and add their own. */
  async reportRefused(refused: object, status: number, signal?: AbortSignal): Promise<boolean> {
    this.#line.checkOpen()
    const lease = this.#find(refused)
    if (lease === undefined) return false
    const better = await this.#line.keeper.replace(lease, { status, headers: {} }, signal)
    return better !== undefined
  }

  /** The credential that was handed out and is meant. Headers without an authorization are those of a certificate. */
  #find(refused: unknown): Lease | undefined {
    const { authorization, cert } = readRefused(refused)
    const lease = this.#handedOut.find((each) =>
      authorization === undefined && cert !== undefined
        ? each.credential.certificate?.chain === String(cert)
        : each.authorization === authorization,
    )
    const saysNothing = authorization === undefined && cert === undefined
    if (lease === undefined && saysNothing && this.#handedOut.length > 0) throw notUsable()
    return lease
  }

  async #lease(signal: AbortSignal | undefined): Promise<Lease> {
    this.#line.checkOpen()
    const lease = await this.#line.leaseForCurrentServer(signal)
    this.#line.checkOpen()
    if (isTorn(lease)) throw belongTogether()
    const others = this.#handedOut.filter((each) => each !== lease)
    this.#handedOut = [lease, ...others].slice(0, MOST_REMEMBERED)
    return lease
  }
}

/** Whether half of who somebody is would be in the headers, and half in the certificate: the next lease may be another's. */
function isTorn({ endpoint, credential }: Lease): boolean {
  return endpoint?.impersonate !== undefined && credential.certificate !== undefined
}

function belongTogether(): NotSupportedError {
  return new NotSupportedError(
    'this login has a certificate and is to act as somebody else: headers and certificate must not be parted',
    { hint: 'Send requests with cluster.fetch or through one of the adapters.' },
  )
}

function keyIsElsewhere(): NotSupportedError {
  return new NotSupportedError('the private key of this user is elsewhere, and only signs', {
    hint: 'Send requests with cluster.fetch or through one of the adapters: they let the key sign.',
  })
}

/** What tells one credential from another in what a caller used. */
export interface RefusedValues {
  readonly authorization: unknown
  readonly cert: unknown
}

/**
 * Finds the credential in what a caller says it used: our values, a copy in the form its client wants, or the
 * options of a whole request.
 *
 * @throws {TypeError} When it is nothing that could hold one.
 */
export function readRefused(given: unknown): RefusedValues {
  if (typeof given !== 'object' || given === null) throw notUsable()
  const { cert, headers } = given as { cert?: unknown; headers?: unknown }
  return { authorization: findAuthorization(given) ?? findAuthorization(headers), cert }
}

/** Says what to pass, and nothing of what was passed: that may be a secret. */
export function notUsable(): TypeError {
  return new TypeError(
    'reportRefused() takes what cluster.headers() or cluster.tlsOptions() gave, or a copy of it that still has the authorization or the cert',
  )
}

function findAuthorization(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined
  for (const [name, value] of pairsOf(headers)) {
    if (String(name).toLowerCase() === 'authorization') return [value].flat()[0]
  }
  return undefined
}

/** Of a list of pairs, a `Headers` or a plain object. */
function pairsOf(headers: object): [unknown, unknown][] {
  if (!(Symbol.iterator in headers)) return Object.entries(headers)
  return [...(headers as Iterable<unknown>)].filter(
    (each): each is [unknown, unknown] => Array.isArray(each) && each.length === 2,
  )
}
