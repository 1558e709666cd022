import type { RawData, WebSocket } from 'ws'

/** Receives what a client sends. */
export interface Receiver {
  onData(channel: number, data: Buffer): void
  /** Called once when the client has ended a channel. */
  onEnd(channel: number): void
}

/** The protocol in which a client can end one channel and keep the others. */
const CLOSABLE = 'v5.channel.k8s.io'
const CLOSE_SIGNAL = 255
const NORMAL_CLOSURE = 1000

/** A WebSocket with channels: the first byte of every message is the number of its channel. */
export class Channels {
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
    // After a protocol error `ws` closes the connection; nothing else is needed.
    socket.on('error', () => {})
  }

  /** The negotiated subprotocol; empty if the client offered none. */
  get protocol(): string {
    return this.#socket.protocol
  }

  /** Sends on a channel. After the connection has closed, data is dropped. */
  send(channel: number, data: string | Uint8Array): void {
    this.#socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(data)]))
  }

  /** Starts to receive. `input` is the channel that ends if the client disconnects without a close signal. */
  receive(input: number, receiver: Receiver): void {
    const ended = new Set<number>()
    const end = (channel: number): void => {
      if (!ended.has(channel)) receiver.onEnd(channel)
      ended.add(channel)
    }
    this.#socket.on('message', (message: RawData) => {
      const bytes = Array.isArray(message) ? Buffer.concat(message) : Buffer.from(message as Buffer)
      const [channel, closed] = bytes
      if (channel === undefined) return
      if (channel !== CLOSE_SIGNAL) {
        if (!ended.has(channel)) receiver.onData(channel, bytes.subarray(1))
      } else if (this.protocol === CLOSABLE && closed !== undefined) end(closed)
    })
    this.#socket.once('close', () => end(input))
  }

  close(): void {
    this.#socket.close(NORMAL_CLOSURE)
  }
}
