import type { Socket } from 'node:net'
import { certificateAlert } from '../tls/alert.ts'

/**
 * TLS alerts of a set of connections.
 *
 * With TLS 1.3 a server refuses a certificate when the client already sends requests. undici then reports only that
 * the other side has closed; the socket's own error says why.
 */
export class Alerts {
  #count = 0
  #last: unknown

  /** How many there were; a mark for `since`. */
  get count(): number {
    return this.#count
  }

  watch<T extends Socket>(socket: T): T {
    return socket.once('error', (error) => {
      if (certificateAlert(error) === undefined) return
      this.#last = error
      this.#count += 1
    })
  }

  /** The last alert, if there was one since. Of several requests that fail together, each must see it. */
  since(mark: number): unknown {
    return this.#count > mark ? this.#last : undefined
  }
}
