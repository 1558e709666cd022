import type { Socket } from 'node:net'
import { certificateAlert } from '../tls/alert.ts'

/**
 * Counts the TLS alerts of a set of connections.
 *
 * With TLS 1.3 a server refuses a client certificate after the client may already have sent requests. undici then only
 * reports that the other side has closed; the socket's own error says why.
 */
export class TlsAlerts {
  #count = 0
  #last: unknown

  /** The number of alerts so far; pass it to `since` later. */
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

  /** Returns the last alert if there was one since `mark`. Each of several requests that fail together must see it. */
  since(mark: number): unknown {
    return this.#count > mark ? this.#last : undefined
  }
}
