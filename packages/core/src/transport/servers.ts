import type { Endpoint } from '../kubeconfig/connection.ts'
import type { Wish } from '../vault/access.ts'
import type { Derived } from '../vault/derived.ts'
import type { Lease } from '../vault/lease.ts'
import { findAnywhere, findPlace, type Place, type Target } from './target.ts'

/** Where a request goes, and for which server its credential must be. */
export interface Aim {
  readonly place: Place
  /** Undefined when any server will do, or there is only one. */
  readonly wish?: Wish
}

/** What of a credential says where it belongs. */
type Belonging = Pick<Lease, 'endpoint'> & Partial<Pick<Lease, 'derived' | 'ticket'>>

/**
 * The server of a line; or, with login handlers, those that the logins name.
 *
 * Logins may name several, and others later. Then every credential says where it belongs, and what is asked
 * here is only which server to show, and to take where a request has no credential of ours.
 */
export class Servers {
  readonly #targetFor: ((endpoint: Endpoint) => Target) | undefined
  readonly #known = new WeakMap<Endpoint, Target>()
  /** What connections of an identity were last made for. */
  readonly #last = new WeakMap<Derived, { readonly ticket: number; readonly key: string }>()
  #now: Target

  constructor(target: Target, targetFor: ((endpoint: Endpoint) => Target) | undefined) {
    this.#now = target
    this.#targetFor = targetFor
  }

  /** The server, and how to check it; with several, where the last request went that could go anywhere. */
  get now(): Target {
    return this.#now
  }

  set now(target: Target) {
    this.#now = target
  }

  /** Whether the server is chosen with the credential: then a path belongs to no server yet. */
  get areOpen(): boolean {
    return this.#targetFor !== undefined
  }

  /**
   * Finds where a request goes: a path is appended to the path of its server, a URL must be of one of them.
   *
   * @throws {ForeignOriginError} Nothing was sent. With several servers, whoever gives the credential says it.
   */
  find(input: string | URL): Aim {
    return this.areOpen ? findAnywhere(input) : { place: findPlace(input, this.#now) }
  }

  /** What a request wants of its credentials: one object for all its tries, which share their time to wait. */
  wishOf({ place, wish }: Aim): Wish | undefined {
    if (!this.areOpen) return undefined
    // A path that is already of a server must not go to another.
    const origin = wish?.origin ?? (place.isRelative ? undefined : this.#now.origin)
    return { ...(origin !== undefined && { origin }), patience: {} }
  }

  /** The server of a credential. */
  readonly of = ({ endpoint, derived, ticket = 0 }: Belonging): Target => {
    if (endpoint === undefined || this.#targetFor === undefined) return this.#now
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
  follow(lease: Lease, wish: Wish | undefined): Target | undefined {
    const target = this.of(lease)
    const old = this.#now
    const couldGoAnywhere = wish?.origin === undefined
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
