import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

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
