import type { Socket } from 'node:net'

/** The state of a connection that has had a request. */
interface Used {
  /** Requests in flight. */
  readonly open: Set<object>
  readonly gone: AbortController
}

/**
 * The connections of a proxy, and the requests in flight on each.
 *
 * A client that opens many connections and sends nothing must not lock out others. So at the limit the connection that
 * has been idle the longest is closed, including one that has not finished its TLS handshake. Before that, connections
 * whose only request was rejected are closed: a client without the secret could otherwise occupy all with uploads.
 */
export class Connections {
  readonly #limit: number
  readonly #onAllEnded: () => void
  readonly #all = new Set<Socket>()
  /** Connections without a request, the longest idle first. */
  readonly #idle = new Set<Socket>()
  /** Connections that only wait for the rest of a rejected request, the oldest first. */
  readonly #rejected = new Set<Socket>()
  readonly #used = new Map<Socket, Used>()
  /** TCP connections whose TLS handshake is not complete, by client address. */
  readonly #handshaking = new Map<string, Socket>()
  #open = 0

  /** @param onAllEnded Called whenever the last request in flight has ended. */
  constructor(limit: number, onAllEnded: () => void) {
    this.#limit = limit
    this.#onAllEnded = onAllEnded
  }

  /** The number of requests in flight. */
  get open(): number {
    return this.#open
  }

  /** Adds a connection, or closes it if all others are busy and the limit is reached. */
  add(socket: Socket): void {
    this.#watch(socket)
    if (this.#all.size >= this.#limit && !this.#makeRoom()) {
      socket.destroy()
      return
    }
    this.#all.add(socket)
    this.#idle.add(socket)
  }

  /** Adds a TCP connection whose TLS handshake is to come; call `secured` when it is complete. */
  addRaw(socket: Socket): void {
    this.add(socket)
    const key = addressOf(socket)
    this.#handshaking.set(key, socket)
    socket.once('close', () => {
      if (this.#handshaking.get(key) === socket) this.#handshaking.delete(key)
    })
  }

  /** Tracks the TLS connection in place of its TCP connection. */
  secured(socket: Socket): void {
    const key = addressOf(socket)
    const raw = this.#handshaking.get(key)
    this.#handshaking.delete(key)
    if (raw !== undefined) this.#idle.delete(raw)
    this.#watch(socket)
    this.#idle.add(socket)
  }

  /** Records that a request begins. Returns the number of requests in flight on this connection. */
  begin(socket: Socket, request: object): number {
    const { open } = this.#use(socket)
    open.add(request)
    this.#open += 1
    this.#rejected.delete(socket)
    this.#idle.delete(socket)
    return open.size
  }

  /** Records that a request was rejected: from now on its connection can be closed for a new one. */
  reject(socket: Socket, request: object): void {
    const { open } = this.#use(socket)
    if (open.size === 1 && open.has(request)) this.#rejected.add(socket)
  }

  /** Records that a request has ended, unless its connection has closed before. */
  end(socket: Socket, request: object): void {
    const used = this.#used.get(socket)
    if (used === undefined || !used.open.delete(request)) return
    this.#rejected.delete(socket)
    if (used.open.size === 0) this.#idle.add(socket)
    this.#ended(1)
  }

  /** Returns a signal that aborts when the client disconnects. One per connection, because signals are not cheap. */
  signalOf(socket: Socket): AbortSignal {
    return this.#use(socket).gone.signal
  }

  isBusy(socket: Socket): boolean {
    return (this.#used.get(socket)?.open.size ?? 0) > 0
  }

  closeIdle(): void {
    for (const socket of this.#idle) socket.destroy()
  }

  destroy(): void {
    for (const socket of [...this.#all, ...this.#used.keys()]) socket.destroy()
  }

  #use(socket: Socket): Used {
    const known = this.#used.get(socket)
    if (known !== undefined) return known
    const used = { open: new Set<object>(), gone: new AbortController() }
    // Node may still parse requests from bytes that arrived before the connection closed.
    if (socket.destroyed) used.gone.abort(GONE)
    else this.#used.set(socket, used)
    return used
  }

  #makeRoom(): boolean {
    const [rejected] = this.#rejected
    const [idle] = this.#idle
    const oldest = rejected ?? idle
    if (oldest === undefined) return false
    this.#all.delete(oldest)
    this.#rejected.delete(oldest)
    this.#idle.delete(oldest)
    oldest.destroy()
    return true
  }

  #watch(socket: Socket): void {
    // Without a listener, an early socket error would end the process.
    socket.on('error', () => {})
    socket.once('close', () => this.#forget(socket))
  }

  /** Ends all requests of a closed connection. Node emits `close` only for the first of several pipelined requests. */
  #forget(socket: Socket): void {
    this.#all.delete(socket)
    this.#rejected.delete(socket)
    this.#idle.delete(socket)
    const used = this.#used.get(socket)
    if (used === undefined) return
    this.#used.delete(socket)
    used.gone.abort(GONE)
    if (used.open.size > 0) this.#ended(used.open.size)
  }

  #ended(count: number): void {
    this.#open -= count
    if (this.#open === 0) this.#onAllEnded()
  }
}

const GONE = new Error('the client disconnected')

/** Identifies a client: the same for a TCP connection and the TLS connection on it. */
function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
