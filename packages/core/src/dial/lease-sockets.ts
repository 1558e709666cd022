import type { Duplex } from 'node:stream'
import type { Closable } from '../keeper/resource-cache.ts'

/**
 * The sockets of a lease that callers use directly, such as upgraded connections.
 *
 * `close` waits until all of them are closed; `destroy` closes them.
 */
export class LeaseSockets implements Closable {
  /** Functions that close the sockets, including those that are still connecting. */
  readonly #open = new Set<(reason: Error) => void>()
  /** Resolve functions of pending `close` calls. */
  readonly #waiting: (() => void)[] = []

  add(socket: Duplex): void {
    const end = (reason: Error): void => void socket.on('error', () => {}).destroy(reason)
    this.#open.add(end)
    socket.once('close', () => this.#remove(end))
  }

  /** Opens a socket and adds it. `destroy` also aborts it while it is connecting. */
  async open<T extends Duplex>(
    make: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted()
    const connecting = new AbortController()
    const abort = (): void => connecting.abort(signal?.reason)
    const giveUp = (reason: Error): void => connecting.abort(reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#open.add(giveUp)
    try {
      const socket = await make(connecting.signal)
      this.add(socket)
      return socket
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#remove(giveUp)
    }
  }

  async close(): Promise<void> {
    // A caller may have just received the lease, and is about to call `open`.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#open.size === 0) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  destroy(reason: Error): void {
    for (const end of this.#open) end(reason)
  }

  #remove(end: (reason: Error) => void): void {
    this.#open.delete(end)
    if (this.#open.size === 0) for (const done of this.#waiting.splice(0)) done()
  }
}
