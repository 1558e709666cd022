import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { CertificatePair } from '../../credential/credential.ts'
import { NotSupportedError } from '../../errors/index.ts'
import { requireAbility } from '../../node/runtime.ts'

/** Options of `createDispatcher`; names and meanings are those of undici's `Pool`. */
export interface DispatcherOptions {
  /**
   * Whether HTTP/2 is offered to the server; needs undici 8. False by default, and always with a signing key.
   *
   * Upgrades always use HTTP/1.1: the API server does not support them over HTTP/2.
   */
  readonly allowH2?: boolean
  /** The maximum number of connections; by default there is no limit. Each watch needs one, except over HTTP/2. */
  readonly connections?: number
  /** How long an idle connection is kept, in milliseconds; 60 seconds by default. */
  readonly keepAliveTimeout?: number
  readonly keepAliveMaxTimeout?: number
  /** How long to wait for the response headers, in milliseconds; by default there is no limit. */
  readonly headersTimeout?: number
  /** The maximum time between two chunks of a body, in milliseconds; by default there is no limit, because of watches. */
  readonly bodyTimeout?: number
  readonly maxHeaderSize?: number
  readonly maxResponseSize?: number
  readonly strictContentLength?: boolean
}

/** The options that are passed to undici's `Pool`, without `connect`. */
export interface PoolOptions extends DispatcherOptions {
  readonly allowH2: boolean
}

/** Returns the options for an identity. */
export type OptionsFor = (certificate: CertificatePair | undefined) => PoolOptions

const NAMES = [
  'connections',
  'keepAliveTimeout',
  'keepAliveMaxTimeout',
  'headersTimeout',
  'bodyTimeout',
  'maxHeaderSize',
  'maxResponseSize',
  'strictContentLength',
] as const satisfies (keyof DispatcherOptions)[]

/** An export that only undici 8 has. */
const ONLY_IN_8 = 'Dispatcher1Wrapper'

/**
 * Checks the options and selects those that are passed on: the caller's `connect` would bypass our TLS.
 *
 * @throws {TypeError} If an option is unknown.
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` for HTTP/2 with an undici before 8, or under Deno.
 */
export function readOptions(given: DispatcherOptions, undici: object): OptionsFor {
  const unknown = Object.keys(given).find((name) => name !== 'allowH2' && !isKnown(name))
  if (unknown !== undefined) {
    throw new TypeError(`createDispatcher has no option ${JSON.stringify(unknown)}`)
  }
  if (given.allowH2) requireAbility('http2')
  if (given.allowH2 && !(ONLY_IN_8 in undici)) {
    // Earlier versions end all requests of a connection, including watches, when the server sends GOAWAY. The API server
    // does so after a 401, which then never arrives.
    throw new NotSupportedError(
      'allowH2 needs undici 8: HTTP/2 of earlier versions loses requests',
      {
        hint: 'Leave out allowH2, or install undici 8.',
      },
    )
  }
  const chosen = Object.fromEntries(
    NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  )
  return (certificate) => ({
    keepAliveTimeout: 60_000,
    // As in client-go: a request is ended by its signal, its server or its connection, not by a timeout of ours.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...chosen,
    // TLS with a signing key runs over a stream of ours, on which undici drives Node's HTTP/2 into an endless loop: a
    // large upload that is refused midway ends the process. The HTTP/2 of the other adapters is not affected.
    allowH2: given.allowH2 === true && certificate?.signingKey === undefined,
  })
}

function isKnown(name: string): boolean {
  return (NAMES as readonly string[]).includes(name)
}

/**
 * The parts of a user's undici that we need: `import * as undici from 'undici'`, version 6, 7 or 8.
 *
 * It is an argument because a dispatcher only works with the copy of undici that made it.
 */
export interface UndiciModule {
  readonly Dispatcher: abstract new (...options: never) => object
  readonly Pool: abstract new (...options: never) => object
  readonly errors: {
    readonly ClientClosedError: abstract new (...options: never) => Error
    readonly ClientDestroyedError: abstract new (...options: never) => Error
    readonly RequestAbortedError: abstract new (...options: never) => Error
  }
}

/** The part of the three versions of undici that is used here. */
export interface Undici {
  readonly Dispatcher: new () => EventEmitter
  readonly Pool: new (origin: string, options: object) => Pool
  readonly errors: {
    readonly ClientClosedError: new () => Error
    readonly ClientDestroyedError: new () => Error
    readonly RequestAbortedError: new () => Error
  }
}

/** The part of a `Pool` of undici that is used here. */
export interface Pool extends EventEmitter {
  dispatch(options: DispatchOptions, handler: object): boolean
  close(): Promise<void>
  destroy(reason: Error): Promise<void>
}

/** The callback of a pool's `connect`. */
export type ConnectCallback = (error: Error | null, socket: Socket | null) => void

/** The options of a dispatched request that are used here; all others are passed on. */
export interface DispatchOptions {
  readonly origin?: string | URL | undefined
  readonly path: string
  readonly method: string
  readonly headers?: unknown
  readonly body?: unknown
  readonly query?: unknown
  readonly upgrade?: string | boolean | null | undefined
  /** False if the sender does not support HTTP/2; undici 8 sets it for handlers of older versions. */
  readonly allowH2?: boolean | undefined
  /** Only in undici 6; later versions have an interceptor for it. */
  readonly maxRedirections?: number | undefined
}
