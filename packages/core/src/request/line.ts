import { setMaxListeners } from 'node:events'
import type { Target } from '../dial/target.ts'
import { ClosedError } from '../errors/index.ts'
import type { ConnectionLimits, Connections, Exchange, HeaderValues } from '../exchange/exchange.ts'
import type { Lease } from '../keeper/lease.ts'
import { type LeaseOptions, type LeaseProvider, pinToServer } from '../keeper/lease-provider.ts'
import { ResourceCache } from '../keeper/resource-cache.ts'
import type { Endpoint } from '../kubeconfig/connection.ts'
import { checkVersion, MADE_BY } from '../version.ts'
import { Call, type Caller } from './call.ts'
import { Gate } from './gate.ts'
import { attachLease } from './headers.ts'
import type { Outgoing } from './outgoing-request.ts'
import { findAnywhere, findOn, type RequestTarget } from './request-target.ts'

/** Where a connection keeps its line; a symbol all copies of this package know. */
export const LINE = Symbol.for('kubecred/line/1')

/** Something that has a line: a `Cluster`. */
export interface HasLine {
  readonly [LINE]: Line
  readonly [MADE_BY]?: string
}

/**
 * The line of a cluster.
 *
 * @param caller Whose argument it is, for the message.
 * @throws {TypeError} When it has none, as the promise of a cluster, or another version of this package made it.
 */
export function lineOf(cluster: HasLine, caller: string): Line {
  const line = (cluster as HasLine | null | undefined)?.[LINE]
  if (line !== undefined) {
    checkVersion(cluster, `${caller}()`, 'Cluster')
    return line
  }
  throw new TypeError(
    `${caller}() takes a Cluster, as connect() resolves to: did you forget to await connect()?`,
  )
}

interface LineParts {
  readonly target: Target
  readonly keeper: LeaseProvider
  /** Headers of requests whose caller set none. */
  readonly defaults: HeaderValues
  readonly refreshOn: readonly number[]
  readonly limits: ConnectionLimits
  /** Loaded when first needed: the pool's code costs more to load than a single request to send. */
  readonly loadExchange: () => Promise<Exchange>
  /** How to reach the server that a login names; for connections with login handlers. */
  readonly targetFor?: (endpoint: Endpoint) => Target
}

/** Something with an end of its own that must come no later than the connection's. */
interface Endable {
  destroy(reason: Error): void | Promise<void>
}

/**
 * One identity's way to one server: what every transport sends through.
 *
 * `cluster.fetch` and the adapters for other clients differ in how a request comes in and how the response goes out.
 * What is between is here and in `Call`, and only there.
 */
export class Line {
  /** For requests that say which server they are for. */
  readonly access: LeaseProvider
  /** Pinned to the current server. */
  readonly keeper: LeaseProvider
  readonly refreshOn: readonly number[]
  readonly defaults: HeaderValues
  /** Connections for requests that bring their own credential: ours must not be on them. */
  readonly anonymous = new ResourceCache()
  /** In place of a lease on those. */
  readonly noCredential: Lease = {
    ticket: 0,
    credential: {},
    authorization: undefined,
    derived: this.anonymous,
  }
  /** Requests in flight and responses that are still open. */
  readonly calls = new Set<Call>()
  readonly #limits: ConnectionLimits
  readonly #loadExchange: () => Promise<Exchange>
  #loading: Promise<Exchange> | undefined
  #exchange: Exchange | undefined
  #gate: Gate | undefined
  readonly #endables = new Set<Endable>()
  #target: Target
  /** Where logins name the servers. */
  readonly #servers: Servers | undefined
  /** What the last request was sent with: nearly always the next one is sent with the same. */
  #lastConnections: LastConnections | undefined
  #lastHeaders: { readonly lease: Lease; readonly headers: HeaderValues } | undefined
  readonly #signals = new WeakSet<AbortSignal>()
  #isClosed = false

  constructor(parts: LineParts) {
    const { target, keeper, defaults, refreshOn, limits, loadExchange, targetFor } = parts
    this.#target = target
    this.#servers = targetFor && new Servers(target, targetFor)
    this.access = keeper
    this.keeper = this.#servers === undefined ? keeper : pinToServer(keeper, this.#servers)
    this.defaults = defaults
    this.refreshOn = refreshOn
    this.#limits = limits
    this.#loadExchange = loadExchange
  }

  /** The server, and how to check it; another object when its CA changed. With several, the current one. */
  get target(): Target {
    return this.#servers?.now ?? this.#target
  }

  /** Whether the server is chosen with the credential: then a path belongs to no server yet. */
  get hasServerPerLogin(): boolean {
    return this.#servers !== undefined
  }

  /** Limits the requests of this identity to this server. */
  get gate(): Gate {
    this.#gate ??= this.#openGate()
    return this.#gate
  }

  /** The server of a credential. */
  targetOf(lease: Lease): Target {
    return this.#servers?.of(lease) ?? this.#target
  }

  /**
   * A credential for the current server, for a caller that asks for the two apart.
   *
   * While it waits for a login, requests may move on to another server: then what came is not for that one.
   */
  async leaseForCurrentServer(signal?: AbortSignal): Promise<Lease> {
    for (;;) {
      const lease = await this.keeper.lease(signal)
      if (!this.hasServerPerLogin || this.targetOf(lease).origin === this.target.origin)
        return lease
    }
  }

  /**
   * The server of a request that brings its own credential.
   *
   * Only logins say which servers there are: where it is not the current one, one of them is asked.
   *
   * @throws {ForeignOriginError} No login is for it.
   */
  targetFor(options: LeaseOptions | undefined, signal?: AbortSignal): Target | Promise<Target> {
    const { target } = this
    if (!this.hasServerPerLogin || (options?.origin ?? target.origin) === target.origin)
      return target
    const leased = this.access.lease(signal, options)
    return leased instanceof Promise
      ? leased.then((lease) => this.targetOf(lease))
      : this.targetOf(leased)
  }

  /**
   * Finds where a request goes: a path is appended to the server's own, a URL must be of a server of ours.
   *
   * @throws {ForeignOriginError} Nothing was sent. With several servers, the logins decide which are ours.
   */
  find(input: string | URL): RequestTarget {
    return this.#servers === undefined ? findOn(input, this.#target) : findAnywhere(input)
  }

  /** What a request needs of its credentials, over all its tries; undefined where any will do. */
  leaseOptionsFor(target: RequestTarget): LeaseOptions | undefined {
    return this.#servers?.leaseOptionsFor(target)
  }

  /** Notes that the server took the credential of a request. */
  accept(lease: Lease, options?: LeaseOptions, date?: string | string[]): void {
    this.access.accept(lease, date)
    const old = this.#servers?.follow(lease, options)
    if (old !== undefined) void this.anonymous.leave(old.key)
  }

  /** What another client's requests get: it did not say that it can read gzip. */
  get adapterHeaders(): HeaderValues {
    const { 'accept-encoding': _, ...rest } = this.defaults
    return rest
  }

  /** The headers of a request with the credential. Where the caller set none, they are the same for all with one lease. */
  headersWith(lease: Lease, { headers, asksCompressed }: Outgoing): HeaderValues {
    const isDefault = headers === this.defaults
    if (isDefault && this.#lastHeaders?.lease === lease) return this.#lastHeaders.headers
    const isUnwished =
      lease.endpoint?.cluster.disableCompression === true && asksCompressed === true
    const attached = attachLease(isUnwished ? uncompressed(headers) : headers, lease)
    if (isDefault) this.#lastHeaders = { lease, headers: attached }
    return attached
  }

  /** The connections to send a request on. */
  connectionsTo(target: Target, lease: Lease, exchange: Exchange): Connections {
    const last = this.#lastConnections
    const { derived } = lease
    const isSame =
      exchange === this.#exchange && last?.derived === derived && last.target === target
    if (isSame && !last.connections.isClosed) return last.connections
    const connections = exchange.open(target, lease)
    if (exchange === this.#exchange) this.#lastConnections = { derived, target, connections }
    return connections
  }

  /** @throws {ClosedError} */
  checkOpen(): void {
    if (this.#isClosed) throw new ClosedError()
  }

  /**
   * Sends a request with the credential, or with the caller's own if it brings one. Resolves with the response.
   *
   * @param via How it travels, if not as the connection's own requests.
   * @throws {CredentialError} When there is no response, or the signal's reason.
   */
  send(target: RequestTarget, outgoing: Outgoing, via?: Exchange): Promise<Call> {
    return new Promise((answered, failed) => this.call(target, outgoing, { answered, failed }, via))
  }

  /** The same, and the caller receives everything as it happens. */
  call(target: RequestTarget, outgoing: Outgoing, caller: Caller, via = this.#exchange): void {
    if (this.#isClosed) {
      caller.failed(new ClosedError())
    } else if (via === undefined) {
      this.#load().then(
        (loaded) => this.call(target, outgoing, caller, loaded),
        (error: unknown) => caller.failed(error),
      )
    } else {
      if (outgoing.signal !== undefined) this.#allowMany(outgoing.signal)
      new Call(this, via, target, outgoing, caller).start()
    }
  }

  /** Sees to it that something ends with the connection. Returns how to call it off. */
  endWith(thing: Endable): () => void {
    this.#endables.add(thing)
    return () => void this.#endables.delete(thing)
  }

  /** Checks new connections in another way. What is open was accepted under the old one and finishes. */
  retarget(target: Target): void {
    const { key } = this.#target
    this.#target = target
    this.#gate = undefined
    this.keeper.leave(key)
    void this.anonymous.leave(key)
  }

  /** Ends everything of this line, but not the keeper. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closed = new ClosedError()
    for (const call of this.calls) call.cancel(closed)
    await Promise.allSettled([
      this.anonymous.destroy(closed),
      ...[...this.#endables].map((thing) => thing.destroy(closed)),
    ])
  }

  /** One signal for all requests of a program is usual; Node takes it for a leak. */
  #allowMany(signal: AbortSignal): void {
    if (this.#signals.has(signal)) return
    this.#signals.add(signal)
    setMaxListeners(0, signal)
  }

  /** Once for all requests; again after a failure. */
  #load(): Promise<Exchange> {
    this.#loading ??= this.#loadExchange().then(
      (exchange) => {
        this.#exchange = exchange
        return exchange
      },
      (error: unknown) => {
        this.#loading = undefined
        throw error
      },
    )
    return this.#loading
  }

  #openGate(): Gate {
    const { requests, streams } = this.#limits
    return this.access.shared.get(
      `gate ${requests} ${streams}`,
      this.target.key,
      () => new Gate(this.#limits),
    )
  }
}

interface LastConnections {
  readonly derived: ResourceCache
  readonly target: Target
  readonly connections: Connections
}

function uncompressed({ 'accept-encoding': _, ...headers }: HeaderValues): HeaderValues {
  return headers
}

/** What of a credential says where it belongs. */
type Belonging = Pick<Lease, 'endpoint'> & Partial<Pick<Lease, 'derived' | 'ticket'>>

/**
 * The servers that logins name.
 *
 * There may be several, and others later. Every credential says where it belongs; this says which server to show, and
 * which to take where a request has no credential of ours.
 */
class Servers {
  readonly #targetFor: (endpoint: Endpoint) => Target
  readonly #known = new WeakMap<Endpoint, Target>()
  /** What connections of an identity were last made for. */
  readonly #last = new WeakMap<ResourceCache, { readonly ticket: number; readonly key: string }>()
  #now: Target

  constructor(target: Target, targetFor: (endpoint: Endpoint) => Target) {
    this.#now = target
    this.#targetFor = targetFor
  }

  /** The server, and how to check it; with several, where the last request went that could go anywhere. */
  get now(): Target {
    return this.#now
  }

  /** What a request needs of its credentials: one object for all its tries, which share their time to wait. */
  leaseOptionsFor({ origin, isRelative }: RequestTarget): LeaseOptions {
    // A path that is already of a server must not go to another.
    const needed = origin ?? (isRelative ? undefined : this.#now.origin)
    return { ...(needed !== undefined && { origin: needed }), patience: {} }
  }

  /** The server of a credential. */
  readonly of = ({ endpoint, derived, ticket = 0 }: Belonging): Target => {
    if (endpoint === undefined) return this.#now
    const target = this.#known.get(endpoint) ?? this.#targetFor(endpoint)
    this.#known.set(endpoint, target)
    if (derived !== undefined) this.#leaveOld(derived, ticket, target)
    return target
  }

  /**
   * Notes that a server took a credential. Returns the target that it takes the place of, if any.
   *
   * A URL says where it goes whatever the server of now is, and so says nothing about it.
   */
  follow(lease: Lease, options: LeaseOptions | undefined): Target | undefined {
    const target = this.of(lease)
    const old = this.#now
    const couldGoAnywhere = options?.origin === undefined
    if (target === old || !(couldGoAnywhere || target.origin === old.origin)) return undefined
    this.#now = target
    return target.origin === old.origin && target.key !== old.key ? old : undefined
  }

  /** Notes a credential that was given for the server of now: its login may check it in another way. */
  hold(lease: Lease): void {
    const target = this.of(lease)
    if (target.origin === this.#now.origin) this.#now = target
  }

  /** Takes the server of a credential for the one of now: no login is for the old one any more. */
  move(lease: Lease): void {
    this.#now = this.of(lease)
  }

  /** A handler may name another server or CA: connections to the old one end with what is in flight. */
  #leaveOld(derived: ResourceCache, ticket: number, { key }: Target): void {
    const last = this.#last.get(derived)
    // Somebody may still be on the way with an older credential.
    if (last !== undefined && (last.key === key || last.ticket > ticket)) return
    this.#last.set(derived, { ticket, key })
    if (last !== undefined) void derived.leave(last.key)
  }
}
