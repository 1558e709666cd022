import type { Socket } from 'node:net'

/** What is known about a connection that had a request. */
interface Used {
  /** Requests under way. */
  readonly open: Set<object>
  readonly gone: AbortController
}

/**
 * The connections of a proxy: how many, which of them are idle, and what is under way on the others.
 *
 * Somebody who opens many and sends nothing must not keep others out. So the one that is idle for longest makes
 * room, also one that has not finished its TLS handshake.
 */
export class Connections {
  readonly #limit: number
  readonly #onAllEnded: () => void
  readonly #all = new Set<Socket>()
  /** Those without a request, longest first. */
  readonly #idle = new Set<Socket>()
  readonly #used = new Map<Socket, Used>()
  /** What is below TLS, until its handshake is done. */
  readonly #handshaking = new Map<string, Socket>()
  #open = 0

  /** @param onAllEnded Called whenever the last request under way has ended. */
  constructor(limit: number, onAllEnded: () => void) {
    this.#limit = limit
    this.#onAllEnded = onAllEnded
  }

  /** How many requests are under way. */
  get open(): number {
    return this.#open
  }

  /** Takes a new connection, or closes it when there is no room. */
  add(socket: Socket): void {
    this.#watch(socket)
    if (this.#all.size >= this.#limit && !this.#makeRoom()) {
      socket.destroy()
      return
    }
    this.#all.add(socket)
    this.#idle.add(socket)
  }

  /** Takes a connection that will be secured; `secured` tells when it is. */
  addRaw(socket: Socket): void {
    this.add(socket)
    const key = addressOf(socket)
    this.#handshaking.set(key, socket)
    socket.once('close', () => {
      if (this.#handshaking.get(key) === socket) this.#handshaking.delete(key)
    })
  }

  /** From now on the secured connection is the one that is idle or not. */
  secured(socket: Socket): void {
    const key = addressOf(socket)
    const raw = this.#handshaking.get(key)
    this.#handshaking.delete(key)
    if (raw !== undefined) this.#idle.delete(raw)
    this.#watch(socket)
    this.#idle.add(socket)
  }

  /** Notes that a request begins. Returns how many are under way on this connection. */
  begin(socket: Socket, request: object): number {
    const { open } = this.#use(socket)
    open.add(request)
    this.#open += 1
    this.#idle.delete(socket)
    return open.size
  }

  /** Notes that a request has ended, if its connection has not ended before. */
  end(socket: Socket, request: object): void {
    const used = this.#used.get(socket)
    if (used === undefined || !used.open.delete(request)) return
    if (used.open.size === 0) this.#idle.add(socket)
    this.#ended(1)
  }

  /** Aborted when the client has gone. One for all requests of a connection, because one is not for free. */
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
    // Bytes that came with the last ones of a connection may still be read as requests.
    if (socket.destroyed) used.gone.abort(GONE)
    else this.#used.set(socket, used)
    return used
  }

  #makeRoom(): boolean {
    const [oldest] = this.#idle
    if (oldest === undefined) return false
    this.#all.delete(oldest)
    this.#idle.delete(oldest)
    oldest.destroy()
    return true
  }

  #watch(socket: Socket): void {
    // Who fails before anybody reads must not end the process.
    socket.on('error', () => {})
    socket.once('close', () => this.#forget(socket))
  }

  /** Node tells only the first of several requests that wait on a connection that it has ended. */
  #forget(socket: Socket): void {
    this.#all.delete(socket)
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

/** Why a request is given up; who could read it is not there any more. */
const GONE = new Error('the client has gone')

/** The same for a connection and for what is secured on it. */
function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
