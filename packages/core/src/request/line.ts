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
import type { OutgoingRequest } from './outgoing-request.ts'
import { findTarget, findTargetOnAnyServer, type RequestTarget } from './request-target.ts'

/** The property under which a cluster keeps its line; shared by all copies of this package. */
export const LINE = Symbol.for('kubecred/line/1')

/** Something that has a line: a `Cluster`. */
export interface HasLine {
  readonly [LINE]: Line
  readonly [MADE_BY]?: string
}

/**
 * Returns the line of a cluster.
 *
 * @param caller The function whose argument it is, for the message.
 * @throws {TypeError} If it is not a cluster (a promise of one, for example), or another version of this package made it.
 */
export function lineOf(cluster: HasLine, caller: string): Line {
  const line = (cluster as HasLine | null | undefined)?.[LINE]
  if (line !== undefined) {
    checkVersion(cluster, `${caller}()`, 'Cluster')
    return line
  }
  throw new TypeError(
    `${caller}() needs a Cluster, which connect() resolves with: did you forget to await connect()?`,
  )
}

interface LineParts {
  readonly target: Target
  readonly keeper: LeaseProvider
  /** Headers of requests whose caller set none. */
  readonly defaults: HeaderValues
  readonly refreshOn: readonly number[]
  readonly limits: ConnectionLimits
  /** Loads the exchange on first use: loading the pool's code takes longer than sending one request. */
  readonly loadExchange: () => Promise<Exchange>
  /** Returns how to reach the server of a login; only with login handlers. */
  readonly targetFor?: (endpoint: Endpoint) => Target
}

/** Something that must end no later than the line. */
interface Destroyable {
  destroy(reason: Error): void | Promise<void>
}

/**
 * Sends the requests of one identity to one server. Every transport uses it.
 *
 * `cluster.fetch` and the adapters for other clients differ in how they take a request and return the response.
 * Everything in between is here and in `Call`, and only there.
 */
export class Line {
  /** The credentials, for requests that say which server they are for. */
  readonly access: LeaseProvider
  /** The credentials, pinned to the current server. */
  readonly keeper: LeaseProvider
  readonly refreshOn: readonly number[]
  readonly defaults: HeaderValues
  /** The default headers for other clients, without `Accept-Encoding`: they may not be able to read gzip. */
  readonly adapterHeaders: HeaderValues
  /** Connections for requests with the caller's own credential: ours must not be on them. */
  readonly anonymous = new ResourceCache()
  /** The lease of such requests. */
  readonly anonymousLease: Lease = {
    ticket: 0,
    credential: {},
    authorization: undefined,
    resources: this.anonymous,
  }
  /** Requests in flight and responses that are still open. */
  readonly calls = new Set<Call>()
  readonly #limits: ConnectionLimits
  readonly #loadExchange: () => Promise<Exchange>
  #loading: Promise<Exchange> | undefined
  #exchange: Exchange | undefined
  #gate: Gate | undefined
  readonly #destroyables = new Set<Destroyable>()
  #target: Target
  /** Set if the logins name the servers. */
  readonly #servers: Servers | undefined
  /** Connections and headers of the last request: nearly always the next one uses the same. */
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
    this.adapterHeaders = uncompressed(defaults)
    this.refreshOn = refreshOn
    this.#limits = limits
    this.#loadExchange = loadExchange
  }

  /** The server and how to verify it; a new object when its CA changed. With several servers, the current one. */
  get target(): Target {
    return this.#servers?.now ?? this.#target
  }

  /** Whether the server is chosen together with the credential, so that a path does not belong to a server yet. */
  get hasServerPerLogin(): boolean {
    return this.#servers !== undefined
  }

  /** Limits the requests of this identity to this server. */
  get gate(): Gate {
    this.#gate ??= this.#openGate()
    return this.#gate
  }

  /** Returns the server of a credential. */
  targetOf(lease: Lease): Target {
    return this.#servers?.of(lease) ?? this.#target
  }

  /**
   * Leases a credential for the current server, for a caller that reads credential and server separately.
   *
   * If other requests switch to another server while a login is awaited, it asks again for that server.
   */
  async leaseForCurrentServer(signal?: AbortSignal): Promise<Lease> {
    for (;;) {
      const lease = await this.keeper.lease(signal)
      if (!this.hasServerPerLogin || this.targetOf(lease).origin === this.target.origin)
        return lease
    }
  }

  /**
   * Returns the server of a request with the caller's own credential.
   *
   * Only logins know which servers there are: if it is not the current one, a login for it is needed.
   *
   * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN` if no login names it.
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
   * Finds where a request goes: a path is appended to the server's own path, a URL must be on one of our servers.
   *
   * With several servers, the logins decide later which URLs are ours.
   *
   * @throws {ForeignOriginError} `ERR_FOREIGN_ORIGIN`; nothing was sent.
   */
  find(input: string | URL): RequestTarget {
    return this.#servers === undefined
      ? findTarget(input, this.#target)
      : findTargetOnAnyServer(input)
  }

  /** Returns what all credentials of a request must fulfil, over all its tries; undefined if any credential will do. */
  leaseOptionsFor(target: RequestTarget): LeaseOptions | undefined {
    return this.#servers?.leaseOptionsFor(target)
  }

  /** Notes that the server accepted the credential of a request. */
  accept(lease: Lease, options?: LeaseOptions, date?: string | string[]): void {
    this.access.accept(lease, date)
    const old = this.#servers?.noteAccepted(lease, options)
    if (old !== undefined) void this.anonymous.drain(old.key)
  }

  /** Returns the headers of a request with the credential; one object per lease if the caller set none. */
  headersWith(lease: Lease, { headers, asksCompressed }: OutgoingRequest): HeaderValues {
    const isDefault = headers === this.defaults
    if (isDefault && this.#lastHeaders?.lease === lease) return this.#lastHeaders.headers
    const isUncompressed =
      lease.endpoint?.cluster.disableCompression === true && asksCompressed === true
    const attached = attachLease(isUncompressed ? uncompressed(headers) : headers, lease)
    if (isDefault) this.#lastHeaders = { lease, headers: attached }
    return attached
  }

  /** Returns the connections to send a request on. */
  connectionsTo(target: Target, lease: Lease, exchange: Exchange): Connections {
    const last = this.#lastConnections
    const { resources } = lease
    const isSame =
      exchange === this.#exchange && last?.derived === resources && last.target === target
    if (isSame && !last.connections.isClosed) return last.connections
    const connections = exchange.open(target, lease)
    if (exchange === this.#exchange)
      this.#lastConnections = { derived: resources, target, connections }
    return connections
  }

  /** @throws {ClosedError} `ERR_CLOSED` if the cluster was closed. */
  checkOpen(): void {
    if (this.#isClosed) throw new ClosedError()
  }

  /**
   * Sends a request with our credential, or with the caller's own if it has one. Resolves when the response begins.
   *
   * @param via The exchange to use; by default that of the cluster.
   * @throws {CredentialError} If there is no response; after an abort, the signal's reason.
   */
  send(target: RequestTarget, outgoing: OutgoingRequest, via?: Exchange): Promise<Call> {
    return new Promise((answered, failed) => this.call(target, outgoing, { answered, failed }, via))
  }

  /** Sends a request like `send`, and reports to `caller` without a promise. */
  call(
    target: RequestTarget,
    outgoing: OutgoingRequest,
    caller: Caller,
    via = this.#exchange,
  ): void {
    if (this.#isClosed) {
      caller.failed(new ClosedError())
    } else if (via === undefined) {
      this.#load().then(
        (loaded) => this.call(target, outgoing, caller, loaded),
        (error: unknown) => caller.failed(error),
      )
    } else {
      if (outgoing.signal !== undefined) this.#allowManyListeners(outgoing.signal)
      new Call(this, via, target, outgoing, caller).start()
    }
  }

  /** Destroys something when the line is closed. Returns a function that removes it again. */
  destroyOnClose(thing: Destroyable): () => void {
    this.#destroyables.add(thing)
    return () => void this.#destroyables.delete(thing)
  }

  /** Verifies new connections in another way. Open ones were accepted in the old way, and finish. */
  retarget(target: Target): void {
    const { key } = this.#target
    this.#target = target
    this.#gate = undefined
    this.keeper.drain(key)
    void this.anonymous.drain(key)
  }

  /** Ends all requests and connections of this line, but not the keeper. */
  async close(): Promise<void> {
    this.#isClosed = true
    const closed = new ClosedError()
    for (const call of this.calls) call.cancel(closed)
    await Promise.allSettled([
      this.anonymous.destroy(closed),
      ...[...this.#destroyables].map((thing) => thing.destroy(closed)),
    ])
  }

  /** Programs often use one signal for all requests, which Node would report as a listener leak. */
  #allowManyListeners(signal: AbortSignal): void {
    if (this.#signals.has(signal)) return
    this.#signals.add(signal)
    setMaxListeners(0, signal)
  }

  /** Loads the exchange once for all requests, and again after a failure. */
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

/** The part of a lease that says which server it is for. */
type ServerLease = Pick<Lease, 'endpoint'> & Partial<Pick<Lease, 'resources' | 'ticket'>>

/**
 * The servers that the logins name.
 *
 * There may be several, and they may change. Every credential says which server it is for; this class says which is the
 * current one: the server to show, and the one of requests without a credential of ours.
 */
class Servers {
  readonly #targetFor: (endpoint: Endpoint) => Target
  readonly #targets = new WeakMap<Endpoint, Target>()
  /** The server that the connections of an identity were last made to. */
  readonly #last = new WeakMap<ResourceCache, { readonly ticket: number; readonly key: string }>()
  #current: Target

  constructor(target: Target, targetFor: (endpoint: Endpoint) => Target) {
    this.#current = target
    this.#targetFor = targetFor
  }

  /** The server and how to verify it; with several, the one of the last request that could go to any. */
  get now(): Target {
    return this.#current
  }

  /** Returns what the credentials of a request must fulfil: one object for all tries, which share their time to wait. */
  leaseOptionsFor({ origin, isRelative }: RequestTarget): LeaseOptions {
    // A path that already belongs to a server must not go to another.
    const needed = origin ?? (isRelative ? undefined : this.#current.origin)
    return { ...(needed !== undefined && { origin: needed }), deadline: {} }
  }

  /** Returns the server of a credential. */
  readonly of = ({ endpoint, resources, ticket = 0 }: ServerLease): Target => {
    if (endpoint === undefined) return this.#current
    const target = this.#targets.get(endpoint) ?? this.#targetFor(endpoint)
    this.#targets.set(endpoint, target)
    if (resources !== undefined) this.#leaveOld(resources, ticket, target)
    return target
  }

  /**
   * Notes that a server accepted a credential. Returns the target that the new one replaces, if any.
   *
   * A request for a URL does not change the current server, because it could not have gone to another.
   */
  noteAccepted(lease: Lease, options: LeaseOptions | undefined): Target | undefined {
    const target = this.of(lease)
    const old = this.#current
    const couldGoAnywhere = options?.origin === undefined
    if (target === old || !(couldGoAnywhere || target.origin === old.origin)) return undefined
    this.#current = target
    return target.origin === old.origin && target.key !== old.key ? old : undefined
  }

  /** Notes a credential that was leased for the current server: its login may verify the server in another way. */
  hold(lease: Lease): void {
    const target = this.of(lease)
    if (target.origin === this.#current.origin) this.#current = target
  }

  /** Makes the server of a credential the current one: no login names the old one any more. */
  move(lease: Lease): void {
    this.#current = this.of(lease)
  }

  /** Lets connections to the old server end with their requests: a handler may name another server or CA. */
  #leaveOld(derived: ResourceCache, ticket: number, { key }: Target): void {
    const last = this.#last.get(derived)
    // A request with an older credential may still be on its way.
    if (last !== undefined && (last.key === key || last.ticket > ticket)) return
    this.#last.set(derived, { ticket, key })
    if (last !== undefined) void derived.drain(last.key)
  }
}
