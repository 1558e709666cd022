import type { Readable } from 'node:stream'
import { isCredentialError } from '../errors/index.ts'
import { isProgramError } from '../errors/unexpected-error.ts'
import type { ExecResponse } from '../protocol/encode-exec-info.ts'
import type { Access, Wish } from '../vault/access.ts'
import type { Derived } from '../vault/derived.ts'
import type { Lease } from '../vault/lease.ts'
import { type Admitted, admit, enter, staysOpen } from './admission.ts'
import { attachLease } from './attach-lease.ts'
import type { HeaderValues } from './default-headers.ts'
import { endWithSignal } from './end-with-signal.ts'
import type { Exchange, Incoming } from './exchange.ts'
import type { Gate, Passage } from './gate.ts'
import { explainNetworkError } from './network-errors.ts'
import type { Outgoing } from './outgoing.ts'
import { keepBody, refusalOf, unansweredRefusal } from './refusal.ts'
import { isProxied, type Place, pathOn, type Target } from './target.ts'
import { mayRepeat } from './unprocessed.ts'

/** A lease, or connections without one. */
type Using = Pick<Lease, 'credential' | 'derived' | 'endpoint'> & {
  readonly authorization?: string | undefined
}

/** Connections that carry nothing of ours, and where they lead. */
interface Plain {
  readonly derived: Derived
  readonly target: Target
}

export interface Route {
  /** The server where credentials do not say another. */
  readonly target: Target
  /** Whether the server is chosen with the credential. */
  readonly isOpenEnded: boolean
  /** The server of a credential. */
  readonly targetOf: (lease: Lease) => Target
  readonly keeper: Access
  /** Tells that the server took a credential. */
  readonly accept: (lease: Lease, wish?: Wish, date?: string | string[]) => void
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

/** How often a request was sent before, and with what it is to be sent now. */
interface Tries {
  /** With another credential, because one was refused. */
  readonly retries: number
  /** With the same, because the server did not look at it. */
  readonly repeats: number
  readonly given?: Lease
}

const FIRST_TRY: Tries = { retries: 0, repeats: 0 }

/**
 * Sends a request with the current credential; when the server refuses it, once more with a better one.
 *
 * All requests that are refused at the same time wait for one refresh. Where there is nothing better,
 * or the body cannot be sent again, the caller gets the server's own answer. With several credentials at
 * hand, each that is left is tried.
 *
 * One function, because each that waits for another costs every request a promise.
 */
export async function authorizedSend(
  route: Route,
  place: Place,
  outgoing: Outgoing,
  wish?: Wish,
  tries = FIRST_TRY,
): Promise<Incoming> {
  let admitted: Admitted | undefined
  let refused: Refused
  try {
    const admission = admit(route, place, outgoing, wish, tries.given)
    admitted = admission instanceof Promise ? await admission : admission
    const { passage, lease } = admitted
    route.checkOpen()
    const way = { using: lease, to: route.targetOf(lease) }
    const incoming = await exchange(route, place, outgoing, way, passage)
    passage.follow(incoming.body, route.open)
    if (!isRefusal(route, place, incoming, lease)) {
      route.accept(lease, wish, incoming.headers['date'])
      return incoming
    }
    refused = { is: 'refused', lease, incoming: await keepBody(incoming) }
  } catch (error) {
    admitted?.passage.done()
    if (admitted !== undefined && mayRepeat(error, outgoing, tries.repeats)) {
      const again = { retries: tries.retries, repeats: tries.repeats + 1 }
      return authorizedSend(route, place, outgoing, wish, again)
    }
    refused = alertedBy(error, route, outgoing, admitted?.lease)
  }
  return replaced(route, place, outgoing, wish, { ...tries, refused })
}

/** Sends a refused request again, if there is something better to send it with. */
async function replaced(
  route: Route,
  place: Place,
  outgoing: Outgoing,
  wish: Wish | undefined,
  { retries, refused }: Tries & { readonly refused: Refused },
): Promise<Incoming> {
  const { keeper } = route
  if (retries >= keeper.mostRetries) {
    keeper.reject(refused.lease, tellOf(refused))
    return finish(refused)
  }
  const better = await keeper.replace(refused.lease, tellOf(refused), outgoing.signal, wish)
  if (better === undefined || !outgoing.canReplay()) return finish(refused)
  keeper.report({ type: 'retried', method: outgoing.method, path: place.pathname })
  const again = { retries: retries + 1, repeats: 0, given: better }
  return authorizedSend(route, place, outgoing, wish, again)
}

/** Sends a request that brings its own credential: nothing of ours is on it, and a refusal is the caller's. */
export async function plainSend(
  route: Route,
  plain: Plain,
  place: Place,
  outgoing: Outgoing,
  repeats = 0,
): Promise<Incoming> {
  const passage = await enter(route.gate, place, outgoing)
  try {
    const way = { using: { credential: {}, derived: plain.derived }, to: plain.target }
    const incoming = await exchange(route, place, outgoing, way, passage)
    passage.follow(incoming.body, route.open)
    return incoming
  } catch (error) {
    passage.done()
    if (mayRepeat(error, outgoing, repeats)) {
      return plainSend(route, plain, place, outgoing, repeats + 1)
    }
    throw explain(error, outgoing, plain.target)
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

/** Whether an answer says that the credential is not accepted. */
function isRefusal(
  { refreshOn }: Route,
  { pathname }: Place,
  { statusCode }: Incoming,
  lease: Lease,
): boolean {
  return refreshOn.includes(statusCode) && !isProxied(pathname) && !isAnonymous(lease)
}

/**
 * The refusal behind an error, if the server has refused the credential without an answer.
 *
 * @throws What the caller is told, if it was something else.
 */
function alertedBy(
  error: unknown,
  route: Route,
  outgoing: Outgoing,
  lease: Lease | undefined,
): Refused {
  if (lease === undefined) throw explain(error, outgoing, route.target)
  const explained = explain(error, outgoing, route.targetOf(lease))
  const told = outgoing.signal?.aborted ? undefined : unansweredRefusal(error, lease)
  if (told === undefined) throw explained
  return { is: 'alerted', lease, error: explained, told }
}

/** Nothing was sent that could have been refused. */
function isAnonymous({ authorization, credential }: Lease): boolean {
  return authorization === undefined && credential.certificate === undefined
}

function exchange(
  route: Route,
  place: Place,
  outgoing: Outgoing,
  { using, to }: { readonly using: Using; readonly to: Target },
  passage: Passage,
): Promise<Incoming> {
  const sent = route.exchange.send(to, using, {
    method: outgoing.method,
    path: pathOn(place, to),
    headers: headersFor(outgoing, using, route),
    body: outgoing.body(),
    signal: outgoing.signal,
    isStream: staysOpen(place, outgoing),
    round: route.gate.round,
    passage,
    checkOpen: route.checkOpen,
    wire: route.wire,
  })
  const answer = endWithSignal(sent, outgoing.signal)
  if (!route.isOpenEnded) return answer
  return answer.then((incoming) => ({ ...incoming, target: to }))
}

/** What goes out on a try. What is made of the defaults is the same for every request with a lease. */
function headersFor(
  { headers, asksCompressed }: Outgoing,
  using: Using,
  { defaults, copies }: Route,
): HeaderValues {
  const known = headers === defaults ? copies.get(using) : undefined
  if (known !== undefined) return known
  const isUnwished = using.endpoint?.cluster.disableCompression === true && asksCompressed === true
  const attached = attachLease(isUnwished ? uncompressed(headers) : headers, using)
  if (headers === defaults && attached !== headers) copies.set(using, attached)
  return attached
}

function uncompressed({ 'accept-encoding': _, ...headers }: HeaderValues): HeaderValues {
  return headers
}

/** What the caller is told when there was no answer: their own reason, ours, or the network's in words. */
function explain(error: unknown, { signal, bodyError }: Outgoing, { origin }: Target): unknown {
  if (signal?.aborted) return signal.reason
  const own = bodyError?.()
  if (own !== undefined) return own
  const isExplained = isCredentialError(error) || isProgramError(error)
  return isExplained ? error : explainNetworkError(error, origin)
}

/** What the keeper is told about a refusal. */
function tellOf(sent: Refused): ExecResponse {
  return sent.is === 'alerted' ? sent.told : refusalOf(sent.incoming)
}

function finish(sent: Refused): Incoming {
  if (sent.is === 'alerted') throw sent.error
  return sent.incoming
}
