import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { SigningKey } from '../credential/signing-key.ts'
import {
  HandshakeNotSignedError,
  SignatureInvalidError,
  SignedTooLateError,
} from '../errors/index.ts'
import { explainEarlyAlert, HandshakeError } from './alert.ts'
import { readCertificateChain } from './certificate-chain.ts'
import { ALERT, type Alert } from './constants.ts'
import { FlightSplice } from './flight-splice.ts'
import { HandshakeTracker } from './handshake-tracker.ts'
import { type SignedIdentity, signFlight } from './sign-flight.ts'

/** Options of {@link connectSigned}. */
export interface SignedTlsOptions {
  /** A connected socket: TCP, a tunnel through a proxy, or a TLS connection to an https proxy. */
  readonly socket: Socket
  /** Options of `tls.connect` (ca, servername, checkServerIdentity, …), without a client certificate or session. */
  readonly tls: ConnectionOptions
  /** The certificate chain in PEM: the leaf, then intermediates. */
  readonly chain: string
  readonly signingKey: SigningKey
  readonly signal?: AbortSignal | undefined
  /** Called when the server is verified and nothing is signed yet; throws to give up the connection. */
  readonly beforeSigning?: ((secured: TLSSocket) => void) | undefined
}

/** Options that would give OpenSSL a client certificate of its own, or resume a session. */
const FORBIDDEN_OPTIONS = ['key', 'cert', 'pfx', 'session', 'secureContext', 'pskCallback'] as const

/**
 * Opens a TLS 1.3 connection with a client certificate whose private key is outside this process.
 *
 * OpenSSL does the handshake without a client certificate; its last flight is replaced by one that the signing key has
 * signed (RFC 8446, section 4.4). The signing key is called only after OpenSSL and `checkServerIdentity` have verified
 * the server, and only if the server sent a CertificateRequest. Resolves when the flight is sent: as always in TLS 1.3,
 * the server reports a rejected certificate only afterwards. On failure the socket is destroyed.
 *
 * @throws {HandshakeNotSignedError} `ERR_HANDSHAKE_NOT_SIGNED`: the handshake is not one that can be signed.
 * @throws {SignatureInvalidError} `ERR_SIGNATURE_INVALID`: the signature does not match the certificate.
 * @throws {SignedTooLateError} `ERR_SIGNED_TOO_LATE`: the server closed the connection before the signature was ready.
 */
export async function connectSigned(options: SignedTlsOptions): Promise<TLSSocket> {
  const { socket, signal } = options
  const tracker = new HandshakeTracker()
  const splice = new FlightSplice(socket, tracker)
  const attempt = new AbortController()
  const abort = (): void => attempt.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    signal?.throwIfAborted()
    const secured = startHandshake(splice, tracker, options)
    // After the start, so that it is parsed while the server answers.
    const chain = readCertificateChain(options.chain)
    const identity = { chain, signingKey: options.signingKey }
    await untilAborted(
      completeHandshake(secured, {
        splice,
        tracker,
        identity,
        signal: attempt.signal,
        beforeSigning: options.beforeSigning,
      }),
      attempt.signal,
    )
    return secured
  } catch (error) {
    splice.abandon(alertFor(error, signal))
    throw toPublicError(error)
  } finally {
    signal?.removeEventListener('abort', abort)
    tracker.wipe()
    // Cancels a signature that is still pending.
    attempt.abort()
  }
}

interface Attempt {
  readonly splice: FlightSplice
  readonly tracker: HandshakeTracker
  readonly identity: SignedIdentity
  readonly signal: AbortSignal
  readonly beforeSigning: SignedTlsOptions['beforeSigning']
}

/** Starts the handshake of OpenSSL over the splice. */
function startHandshake(
  splice: FlightSplice,
  tracker: HandshakeTracker,
  options: SignedTlsOptions,
): TLSSocket {
  const { socket, tls } = options
  const forbidden = FORBIDDEN_OPTIONS.find((name) => tls[name] !== undefined)
  if (forbidden !== undefined)
    throw new TypeError(`options.tls.${forbidden} cannot be used with a signing key`)
  // TLS 1.3 only: in earlier versions the keys depend on the client's last flight, so it cannot be replaced.
  const only = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const
  const secured = connect({ ...tls, ...only, socket: splice })
  // Node copied `true` from the splice, which must stay half-open; the TLS connection must not.
  secured.allowHalfOpen = false
  delegateToSocket(secured, socket)
  // Node does not close a connection on an error after the handshake, which ends for OpenSSL before the flight is
  // signed. The listener also keeps an error from crashing the process before the caller adds its own.
  secured.on('error', (error) => splice.markLost(error))
  const listen = (line: Buffer): void => {
    tracker.addKeylogLine(line)
    // Not if --tls-keylog is used: its listener writes the line later.
    if (secured.listenerCount('keylog') === 1) line.fill(0)
  }
  secured.on('keylog', listen)
  const stop = (): void => void secured.off('keylog', listen)
  splice.flight.then(stop, stop)
  return secured
}

/** Waits until the server is verified, then sends the last flight, signed if the server asked for a certificate. */
async function completeHandshake(secured: TLSSocket, attempt: Attempt): Promise<void> {
  const { splice, tracker, identity, signal, beforeSigning } = attempt
  await untilVerified(secured)
  beforeSigning?.(secured)
  await splice.flight
  const handshake = tracker.conclude()
  const { request } = handshake
  if (request === undefined) {
    await splice.release(tracker.originalFlight)
    return
  }
  const protect = () => tracker.clientProtection()
  const flight = await signFlight(handshake, request, identity, protect, signal)
  if (splice.loss !== undefined) throw tooLate(splice.loss.cause)
  await splice.release(flight).catch((cause: unknown) => {
    throw tooLate(cause)
  })
}

/** Waits until OpenSSL has verified the server's chain and Finished, and `checkServerIdentity` its name. */
async function untilVerified(secured: TLSSocket): Promise<void> {
  const ended = new AbortController()
  const close = (): void => ended.abort()
  secured.once('close', close)
  try {
    await once(secured, 'secureConnect', { signal: ended.signal })
  } catch (error) {
    // The client certificate is sent later, so no alert can be about it.
    if (!ended.signal.aborted) throw explainEarlyAlert(error)
    const message = 'closed before the TLS handshake was complete'
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
  const message = 'the server closed the connection while it waited for the signature'
  return new SignedTooLateError(message, { cause })
}

/** Returns the alert to send if the server still waits for the flight. */
function alertFor(error: unknown, signal: AbortSignal | undefined): Alert {
  if (error instanceof HandshakeError) return error.alert
  if (error instanceof SignatureInvalidError && !signal?.aborted) return ALERT.internalError
  return ALERT.userCanceled
}

function toPublicError(error: unknown): unknown {
  const { code = '' } = (error ?? {}) as { code?: string }
  if (/^ERR_SSL_.*(?:ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)$/.test(code)) {
    return notSigned('the server does not speak TLS 1.3', error)
  }
  return error instanceof HandshakeError ? notSigned(error.message) : error
}

function notSigned(why: string, cause?: unknown): HandshakeNotSignedError {
  return new HandshakeNotSignedError(`the TLS handshake was not signed: ${why}`, { cause })
}

/** Methods that act on the underlying socket. */
const SOCKET_METHODS = ['ref', 'unref', 'setKeepAlive', 'setNoDelay'] as const

/** Properties of the underlying socket. */
const SOCKET_PROPERTIES = [
  'remoteAddress',
  'remotePort',
  'remoteFamily',
  'localAddress',
  'localPort',
  'localFamily',
] as const

/**
 * Delegates socket methods and addresses to the underlying socket, and hides the TLS session.
 *
 * Node sees a connection over a plain stream: without this, `unref` would do nothing and there would be no addresses.
 * The session and the Finished of OpenSSL belong to a flight that the server never received: a resumption with them
 * would fail.
 */
function delegateToSocket(secured: TLSSocket, socket: Socket): void {
  for (const name of SOCKET_METHODS) {
    const call = socket[name] as (...args: unknown[]) => unknown
    define(secured, name, (...args: unknown[]): TLSSocket => {
      call.apply(socket, args)
      return secured
    })
  }
  for (const name of SOCKET_PROPERTIES) {
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
