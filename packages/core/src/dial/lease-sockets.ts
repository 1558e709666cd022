import type { Duplex } from 'node:stream'
import type { Closable } from '../keeper/resource-cache.ts'

/** Connections that were handed out whole and end when their users are done with them. */
export class LeaseSockets implements Closable {
  /** How to end each of them; also those that are still being made. */
  readonly #open = new Set<(reason: Error) => void>()
  /** Those who wait for the last one to end. */
  readonly #waiting: (() => void)[] = []

  add(socket: Duplex): void {
    const end = (reason: Error): void => void socket.on('error', () => {}).destroy(reason)
    this.#open.add(end)
    socket.once('close', () => this.#forget(end))
  }

  /** Makes a connection and adds it; `destroy` ends it also while it is being made. */
  async open<T extends Duplex>(
    make: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted()
    const making = new AbortController()
    const abort = (): void => making.abort(signal?.reason)
    const giveUp = (reason: Error): void => making.abort(reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#open.add(giveUp)
    try {
      const socket = await make(making.signal)
      this.add(socket)
      return socket
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#forget(giveUp)
    }
  }

  async close(): Promise<void> {
    // Somebody may have been given the lease just now and be on the way to `open`.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#open.size === 0) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  destroy(reason: Error): void {
    for (const end of this.#open) end(reason)
  }

  #forget(end: (reason: Error) => void): void {
    this.#open.delete(end)
    if (this.#open.size === 0) for (const done of this.#waiting.splice(0)) done()
  }
}
