import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { SigningKey } from '../credential/signing-key.ts'
import {
  HandshakeNotSignedError,
  SignatureInvalidError,
  SignedTooLateError,
} from '../errors/index.ts'
import { explainEarlyAlert, HandshakeProblem } from './alert.ts'
import { readCertificateChain } from './certificate-chain.ts'
import { ALERT, type Alert } from './constants.ts'
import { Splice } from './flight-splice.ts'
import { HandshakeFollower } from './handshake-tracker.ts'
import { type SignedIdentity, signFlight } from './sign-flight.ts'

export interface SignedTlsOptions {
  /** A connected socket: TCP, a tunnel through a proxy, or a TLS connection to an https proxy. */
  readonly socket: Socket
  /** As for `node:tls`: ca, servername, checkServerIdentity, rejectUnauthorized, ALPNProtocols; no identity. */
  readonly tls: ConnectionOptions
  /** PEM, leaf first, intermediates after it. */
  readonly chain: string
  readonly signingKey: SigningKey
  readonly signal?: AbortSignal | undefined
  /** Throws when the connection is of no use: the server is accepted, and nothing is signed yet. */
  readonly beforeSigning?: ((secured: TLSSocket) => void) | undefined
}

/** Options that would give Node an identity of its own, or a session of another one. */
const FOREIGN = ['key', 'cert', 'pfx', 'session', 'secureContext', 'pskCallback'] as const

/**
 * Opens a TLS 1.3 connection with a client certificate whose key is somewhere else.
 *
 * OpenSSL makes the handshake without a certificate; its last flight is replaced by one that the key has
 * signed (RFC 8446, section 4.4). The key is asked only after OpenSSL and `checkServerIdentity` have
 * accepted the server, and only if the server asks for a certificate. Resolves when the flight is sent;
 * what the server thinks of it comes with the first bytes, as always in TLS 1.3. When it fails, the
 * socket is destroyed.
 *
 * @throws {HandshakeNotSignedError} The handshake went another way than can be signed.
 * @throws {SignatureInvalidError} What the key returned does not fit the certificate.
 * @throws {SignedTooLateError} The server left before the signature was there.
 */
export async function connectSigned(options: SignedTlsOptions): Promise<TLSSocket> {
  const { socket, signal } = options
  const follower = new HandshakeFollower()
  const splice = new Splice(socket, follower)
  const attempt = new AbortController()
  const abort = (): void => attempt.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    signal?.throwIfAborted()
    const secured = begin(splice, follower, options)
    // Read while the server answers.
    const chain = readCertificateChain(options.chain)
    const identity = { chain, signingKey: options.signingKey }
    await untilAborted(
      finish(secured, {
        splice,
        follower,
        identity,
        signal: attempt.signal,
        beforeSigning: options.beforeSigning,
      }),
      attempt.signal,
    )
    return secured
  } catch (error) {
    splice.abandon(alertFor(error, signal))
    throw explain(error)
  } finally {
    signal?.removeEventListener('abort', abort)
    follower.wipe()
    // Nobody waits for a signature any more.
    attempt.abort()
  }
}

interface Attempt {
  readonly splice: Splice
  readonly follower: HandshakeFollower
  readonly identity: SignedIdentity
  readonly signal: AbortSignal
  readonly beforeSigning: SignedTlsOptions['beforeSigning']
}

/** Starts OpenSSL over the splice. */
function begin(splice: Splice, follower: HandshakeFollower, options: SignedTlsOptions): TLSSocket {
  const { socket, tls } = options
  const foreign = FOREIGN.find((name) => tls[name] !== undefined)
  if (foreign !== undefined)
    throw new TypeError(`options.tls.${foreign} cannot be used with a signing key`)
  // The versions say that only TLS 1.3 will do: before it, the keys depend on the last flight.
  const only = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const
  const secured = connect({ ...tls, ...only, socket: splice })
  // Node has taken this from the splice, which must be open longer than a usual connection.
  secured.allowHalfOpen = false
  faceSocket(secured, socket)
  // Node does not close a connection for an error after its handshake, which is over for OpenSSL before it is for us.
  // And between two owners nobody listens: an error that nobody hears would end the process.
  secured.on('error', (error) => splice.lose(error))
  const listen = (line: Buffer): void => {
    follower.takeKeylog(line)
    // Node's own --tls-keylog is another listener, and writes the line later.
    if (secured.listenerCount('keylog') === 1) line.fill(0)
  }
  secured.on('keylog', listen)
  const stop = (): void => void secured.off('keylog', listen)
  splice.flight.then(stop, stop)
  return secured
}

/** Waits until the server is accepted, then sends the last flight: signed, if the server asks for that. */
async function finish(secured: TLSSocket, attempt: Attempt): Promise<void> {
  const { splice, follower, identity, signal, beforeSigning } = attempt
  await accepted(secured)
  beforeSigning?.(secured)
  await splice.flight
  const handshake = follower.conclude()
  const { request } = handshake
  if (request === undefined) {
    await splice.release(follower.originalFlight)
    return
  }
  const protect = () => follower.protectClient()
  const flight = await signFlight(handshake, request, identity, protect, signal)
  if (splice.loss !== undefined) throw tooLate(splice.loss.cause)
  await splice.release(flight).catch((cause: unknown) => {
    throw tooLate(cause)
  })
}

/** OpenSSL has verified the chain and the handshake, and `checkServerIdentity` the name. */
async function accepted(secured: TLSSocket): Promise<void> {
  const ended = new AbortController()
  const close = (): void => ended.abort()
  secured.once('close', close)
  try {
    await once(secured, 'secureConnect', { signal: ended.signal })
  } catch (error) {
    // Our certificate is sent after this.
    if (!ended.signal.aborted) throw explainEarlyAlert(error)
    const message = 'closed before the connection was made'
    throw Object.assign(new Error(message, { cause: error }), { code: 'ECONNRESET' })
  } finally {
    secured.off('close', close)
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function tooLate(cause: unknown): SignedTooLateError {
  const message = 'the server closed the connection while it waited for a signature'
  return new SignedTooLateError(message, { cause })
}

/** What the server is told, if it still waits for our flight. */
function alertFor(error: unknown, signal: AbortSignal | undefined): Alert {
  if (error instanceof HandshakeProblem) return error.alert
  if (error instanceof SignatureInvalidError && !signal?.aborted) return ALERT.internalError
  return ALERT.userCanceled
}

function explain(error: unknown): unknown {
  const { code = '' } = (error ?? {}) as { code?: string }
  if (/^ERR_SSL_.*(?:ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/.test(code)) {
    return notSigned('the server does not speak TLS 1.3', error)
  }
  return error instanceof HandshakeProblem ? notSigned(error.message) : error
}

function notSigned(why: string, cause?: unknown): HandshakeNotSignedError {
  return new HandshakeNotSignedError(`the TLS handshake was not signed: ${why}`, { cause })
}

/** Methods that mean the connection itself. */
const METHODS = ['ref', 'unref', 'setKeepAlive', 'setNoDelay'] as const

/** What is known about the connection itself. */
const PROPERTIES = [
  'remoteAddress',
  'remotePort',
  'remoteFamily',
  'localAddress',
  'localPort',
  'localFamily',
] as const

/**
 * Lets a TLS connection that does not know its socket show it, and hides what would be wrong.
 *
 * To Node the connection runs over some stream: without this `unref` would do nothing, and there would be
 * no addresses. The session and the Finished that OpenSSL knows belong to a flight that the server never
 * saw: a resumption with them fails, so nobody gets them.
 */
function faceSocket(secured: TLSSocket, socket: Socket): void {
  for (const name of METHODS) {
    const call = socket[name] as (...args: unknown[]) => unknown
    define(secured, name, (...args: unknown[]): TLSSocket => {
      call.apply(socket, args)
      return secured
    })
  }
  for (const name of PROPERTIES) {
    Object.defineProperty(secured, name, { configurable: true, get: () => socket[name] })
  }
  define(secured, 'address', () => socket.address())
  define(secured, 'getSession', () => undefined)
  define(secured, 'getTLSTicket', () => undefined)
  define(secured, 'getFinished', () => undefined)
  const emit = secured.emit as (event: string, ...args: unknown[]) => boolean
  define(secured, 'emit', (event: string, ...args: unknown[]): boolean =>
    event === 'session' ? false : emit.call(secured, event, ...args),
  )
}

function define(secured: TLSSocket, name: keyof TLSSocket, value: unknown): void {
  Object.defineProperty(secured, name, { configurable: true, writable: true, value })
}
