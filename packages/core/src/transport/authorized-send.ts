import type { Readable } from 'node:stream'
import { isCredentialError, ServerUntrustedError } from '../errors/index.ts'
import type { ExecResponse } from '../protocol/encode-exec-info.ts'
import type { Access, Wish } from '../vault/access.ts'
import type { Derived } from '../vault/derived.ts'
import type { Lease } from '../vault/lease.ts'
import type { HeaderValues } from './default-headers.ts'
import type { Exchange, Incoming } from './exchange.ts'
import type { Gate, Passage } from './gate.ts'
import { explainNetworkError, readAlert } from './network-errors.ts'
import type { Outgoing } from './outgoing.ts'
import { ALERTED, keepBody, refusalOf, UNUSABLE } from './refusal.ts'
import { isProxied, isStreaming, type Place, pathOn, type Target } from './target.ts'
import { mayRepeat } from './unprocessed.ts'

/** A lease, or connections without one. */
type Using = Pick<Lease, 'credential' | 'derived' | 'endpoint'> & {
  readonly authorization?: string | undefined
}

export interface Route {
  /** The server where credentials do not say another. */
  readonly target: Target
  /** The server of a credential. */
  readonly targetOf: (lease: Pick<Lease, 'endpoint'>) => Target
  readonly keeper: Access
  readonly exchange: Exchange
  /** Counts the requests of this identity to this server. */
  readonly gate: Gate
  /** Bodies of responses that are still open. */
  readonly open: Set<Readable>
  /** Throws when the connection was closed while a request waited: nothing is sent after that. */
  readonly checkOpen: () => void
  /** How to end requests that are not answered yet. */
  readonly wire: Set<(reason: Error) => void>
  /** Headers of a request whose caller set none. */
  readonly defaults: HeaderValues
  /** The same with the credential of each lease. */
  readonly copies: WeakMap<object, HeaderValues>
  /** Statuses that mean: this credential is not accepted. */
  readonly refreshOn: readonly number[]
}

/**
 * Sends a request with the current credential; when the server refuses it, once more with a better one.
 *
 * All requests that are refused at the same time wait for one refresh. Where there is nothing better,
 * or the body cannot be sent again, the caller gets the server's own answer. With several credentials at
 * hand, each that is left is tried.
 */
export async function authorizedSend(
  route: Route,
  place: Place,
  outgoing: Outgoing,
  wish?: Wish,
): Promise<Incoming> {
  const { keeper } = route
  let sent = await send(route, place, outgoing, wish)
  for (let retries = 0; sent.is !== 'answered'; retries += 1) {
    if (retries >= keeper.mostRetries) {
      keeper.reject(sent.lease, tellOf(sent))
      return finish(sent)
    }
    const better = await keeper.replace(sent.lease, tellOf(sent), outgoing.signal, wish)
    if (better === undefined || !outgoing.canReplay()) return finish(sent)
    keeper.report({ type: 'retried', method: outgoing.method, path: place.pathname })
    sent = await send(route, place, outgoing, wish)
  }
  return sent.incoming
}

/** Sends a request that brings its own credential: nothing of ours is on it, and a refusal is the caller's. */
export async function plainSend(
  route: Route,
  derived: Derived,
  place: Place,
  outgoing: Outgoing,
  repeats = 0,
): Promise<Incoming> {
  const passage = await enter(route.gate, place, outgoing)
  try {
    const incoming = await exchange(route, place, outgoing, { credential: {}, derived }, passage)
    passage.follow(incoming.body, route.open)
    return incoming
  } catch (error) {
    passage.done()
    if (mayRepeat(error, outgoing, repeats)) {
      return plainSend(route, derived, place, outgoing, repeats + 1)
    }
    throw explain(error, outgoing, route.target)
  }
}

type Refused =
  | { readonly is: 'refused'; readonly lease: Lease; readonly incoming: Incoming }
  /** The server ended the handshake because of our certificate, or is not the one that the login meant. */
  | {
      readonly is: 'alerted'
      readonly lease: Lease
      readonly error: unknown
      readonly told: ExecResponse
    }
type Sent = Refused | { readonly is: 'answered'; readonly incoming: Incoming }

async function send(
  route: Route,
  place: Place,
  outgoing: Outgoing,
  wish: Wish | undefined,
  repeats = 0,
): Promise<Sent> {
  const { keeper, refreshOn } = route
  const way = enter(route.gate, place, outgoing)
  const passage = way instanceof Promise ? await way : way
  let lease: Lease | undefined
  try {
    // Taken only now: the credential may have changed while the request waited for its place.
    const leased = keeper.lease(outgoing.signal, wish)
    lease = leased instanceof Promise ? await leased : leased
    route.checkOpen()
    const incoming = await exchange(route, place, outgoing, lease, passage)
    passage.follow(incoming.body, route.open)
    if (
      !refreshOn.includes(incoming.statusCode) ||
      isProxied(place.pathname) ||
      isAnonymous(lease)
    ) {
      keeper.accept(lease, incoming.headers['date'])
      return { is: 'answered', incoming }
    }
    return { is: 'refused', lease, incoming: await keepBody(incoming) }
  } catch (error) {
    passage.done()
    if (mayRepeat(error, outgoing, repeats)) {
      return send(route, place, outgoing, wish, repeats + 1)
    }
    const explained = explain(error, outgoing, lease ? route.targetOf(lease) : route.target)
    if (lease === undefined || !isRefusal(error, explained, lease)) throw explained
    const told = readAlert(error) === undefined ? UNUSABLE : ALERTED
    return { is: 'alerted', lease, error: explained, told }
  }
}

/** Whether there being no answer says something about the credential. */
function isRefusal(error: unknown, explained: unknown, { credential, endpoint }: Lease): boolean {
  if (credential.certificate !== undefined && readAlert(error) !== undefined) return true
  // A login that names a server we cannot trust with its CA is no use; another login may do better.
  return endpoint !== undefined && explained instanceof ServerUntrustedError
}

/** Nothing was sent that could have been refused. */
function isAnonymous({ authorization, credential }: Lease): boolean {
  return authorization === undefined && credential.certificate === undefined
}

function enter(gate: Gate, place: Place, outgoing: Outgoing): Passage | Promise<Passage> {
  return staysOpen(place, outgoing) ? gate.openStream() : gate.enter(outgoing.signal)
}

function staysOpen(place: Place, { isStream }: Outgoing): boolean {
  return isStream ?? isStreaming(place)
}

function exchange(
  route: Route,
  place: Place,
  outgoing: Outgoing,
  lease: Using,
  passage: Passage,
): Promise<Incoming> {
  const target = route.targetOf(lease)
  const sent = route.exchange.send(target, lease, {
    method: outgoing.method,
    path: pathOn(place, target),
    headers: attachTo(outgoing.headers, lease, route),
    body: outgoing.body(),
    signal: outgoing.signal,
    isStream: staysOpen(place, outgoing),
    round: route.gate.round,
    passage,
    checkOpen: route.checkOpen,
    wire: route.wire,
  })
  return lease.endpoint === undefined ? sent : sent.then((incoming) => ({ ...incoming, target }))
}

/** Attaches the credential to a copy of the headers. The copy of the defaults is the same for every request. */
function attachTo(headers: HeaderValues, lease: Using, { defaults, copies }: Route): HeaderValues {
  const { authorization } = lease
  if (authorization === undefined) return headers
  if (headers !== defaults) return { ...headers, authorization }
  const known = copies.get(lease)
  if (known !== undefined) return known
  const copy = { ...headers, authorization }
  copies.set(lease, copy)
  return copy
}

/** What the caller is told when there was no answer: their own reason, ours, or the network's in words. */
function explain(error: unknown, { signal, bodyError }: Outgoing, { origin }: Target): unknown {
  if (signal?.aborted) return signal.reason
  const own = bodyError?.()
  if (own !== undefined) return own
  return isCredentialError(error) ? error : explainNetworkError(error, origin)
}

/** What the keeper is told about a refusal. */
function tellOf(sent: Refused): ExecResponse {
  return sent.is === 'alerted' ? sent.told : refusalOf(sent.incoming)
}

function finish(sent: Refused): Incoming {
  if (sent.is === 'alerted') throw sent.error
  return sent.incoming
}
