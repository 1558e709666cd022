import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { CertificatePair } from '../../credential/credential.ts'
import { NotSupportedError } from '../../errors/index.ts'

/** Limits of the connections; names and meanings are undici's. */
export interface DispatcherOptions {
  /**
   * Whether HTTP/2 is offered to the server; needs undici 8. False unless told, and with a key that only signs.
   *
   * Upgrades use HTTP/1.1 in any case: the API server knows them in no other.
   */
  readonly allowH2?: boolean
  /** The most connections at once; no limit unless told. Each watch needs one, except over HTTP/2. */
  readonly connections?: number
  /** How long an idle connection is kept, in milliseconds; 60 seconds unless told. */
  readonly keepAliveTimeout?: number
  readonly keepAliveMaxTimeout?: number
  /** How long to wait for an answer to begin, in milliseconds; no limit unless told. */
  readonly headersTimeout?: number
  /** How long an answer may be silent, in milliseconds; no limit unless told, because a watch may be. */
  readonly bodyTimeout?: number
  readonly maxHeaderSize?: number
  readonly maxResponseSize?: number
  readonly strictContentLength?: boolean
}

/** What goes to undici, beside how to connect. */
export interface PoolOptions extends DispatcherOptions {
  readonly allowH2: boolean
}

/** The options under one identity or another. */
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

/** What only undici 8 has, among its exports. */
const ONLY_IN_8 = 'Dispatcher1Wrapper'

/**
 * Takes from the options what is ours to pass on: another `connect` would go round our TLS.
 *
 * @throws {TypeError}
 * @throws {NotSupportedError} HTTP/2 with an undici that cannot do it.
 */
export function readOptions(given: DispatcherOptions, undici: object): OptionsFor {
  const unknown = Object.keys(given).find((name) => name !== 'allowH2' && !isKnown(name))
  if (unknown !== undefined) {
    throw new TypeError(`createDispatcher has no option ${JSON.stringify(unknown)}`)
  }
  if (given.allowH2 && !(ONLY_IN_8 in undici)) {
    // They end all requests of a connection, watches too, when the server sends GOAWAY. The API server
    // does so after a 401, which then never arrives.
    throw new NotSupportedError('allowH2 needs undici 8: HTTP/2 of earlier ones loses requests', {
      hint: 'Leave allowH2 out, or install undici 8.',
    })
  }
  const chosen = Object.fromEntries(
    NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  )
  return (certificate) => ({
    keepAliveTimeout: 60_000,
    // As in client-go, a request ends with its signal, its server or its connection, not with a timer of ours.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...chosen,
    // TLS with such a key runs over a stream of ours, and there undici brings Node's HTTP/2 into a loop: a large upload
    // that is refused midway ends the process. Our own HTTP/2, behind the other adapters, does not.
    allowH2: given.allowH2 === true && certificate?.signingKey === undefined,
  })
}

function isKnown(name: string): boolean {
  return (NAMES as readonly string[]).includes(name)
}

/**
 * The parts of a user's undici that we need: `import * as undici from 'undici'`, version 6, 7 or 8.
 *
 * It comes in as an argument because a dispatcher works only with the undici it was made by.
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

/** What the three versions have in common, as far as we call it. */
export interface Undici {
  readonly Dispatcher: new () => EventEmitter
  readonly Pool: new (origin: string, options: object) => Pool
  readonly errors: {
    readonly ClientClosedError: new () => Error
    readonly ClientDestroyedError: new () => Error
    readonly RequestAbortedError: new () => Error
  }
}

export interface Pool extends EventEmitter {
  dispatch(options: DispatchOptions, handler: object): boolean
  close(): Promise<void>
  destroy(reason: Error): Promise<void>
}

/** What `connect` of a pool is called with. */
export type ConnectCallback = (error: Error | null, socket: Socket | null) => void

/** What a request is dispatched with; there is more, which we pass on unread. */
export interface DispatchOptions {
  readonly origin?: string | URL | undefined
  readonly path: string
  readonly method: string
  readonly headers?: unknown
  readonly body?: unknown
  readonly query?: unknown
  readonly upgrade?: string | boolean | null | undefined
  /** False when whoever sends cannot read HTTP/2, as undici 8 says for older ones. */
  readonly allowH2?: boolean | undefined
  /** undici 6 only; the others have an interceptor for it. */
  readonly maxRedirections?: number | undefined
}
