import type { RawData, WebSocket } from 'ws'

/** Who is told what a client sends. */
export interface Receiver {
  onData(channel: number, data: Buffer): void
  /** Called once for a channel that the client will not send on again. */
  onEnd(channel: number): void
}

/** The protocol in which a client can end one channel and keep the others. */
const CLOSABLE = 'v5.channel.k8s.io'
const CLOSE_SIGNAL = 255
const NORMAL_CLOSURE = 1000

/** A WebSocket with channels: the first byte of every message says to which one it belongs. */
export class Channels {
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
    // A client that breaks the rules of WebSocket has its connection closed by `ws`; that is all.
    socket.on('error', () => {})
  }

  /** What was agreed on; empty if the client asked for nothing. */
  get protocol(): string {
    return this.#socket.protocol
  }

  /** Sends on a channel. What comes too late for the client is dropped. */
  send(channel: number, data: string | Uint8Array): void {
    this.#socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(data)]))
  }

  /** Starts to listen; `input` is the channel that ends when the client leaves without a signal. */
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
