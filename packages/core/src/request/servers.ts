import type { Target } from '../dial/target.ts'
import type { Endpoint } from '../kubeconfig/connection.ts'
import type { LeaseOptions } from '../vault/access.ts'
import type { Derived } from '../vault/derived.ts'
import type { Lease } from '../vault/lease.ts'
import type { RequestTarget } from './request-target.ts'

/** What of a credential says where it belongs. */
type Belonging = Pick<Lease, 'endpoint'> & Partial<Pick<Lease, 'derived' | 'ticket'>>

/**
 * The servers that logins name.
 *
 * There may be several, and others later. Every credential says where it belongs; this says which server to show, and
 * which to take where a request has no credential of ours.
 */
export class Servers {
  readonly #targetFor: (endpoint: Endpoint) => Target
  readonly #known = new WeakMap<Endpoint, Target>()
  /** What connections of an identity were last made for. */
  readonly #last = new WeakMap<Derived, { readonly ticket: number; readonly key: string }>()
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
  #leaveOld(derived: Derived, ticket: number, { key }: Target): void {
    const last = this.#last.get(derived)
    // Somebody may still be on the way with an older credential.
    if (last !== undefined && (last.key === key || last.ticket > ticket)) return
    this.#last.set(derived, { ticket, key })
    if (last !== undefined) void derived.leave(last.key)
  }
}
