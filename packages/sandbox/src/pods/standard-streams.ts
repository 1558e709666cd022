import type { Channels } from './channels.ts'

/** The subprotocols of `exec` and `attach`, best first. */
export const STREAM_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'channel.k8s.io']

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
const FLAGS = ['stdin', 'stdout', 'stderr']
const CHUNK_BYTES = 32 * 1024

/** Receives standard input. */
export interface InputReceiver {
  onData(data: Buffer): void
  onEnd(): void
}

/** The streams of a process in a container, over the channels of a WebSocket. */
export class StandardStreams {
  readonly #channels: Channels
  readonly #query: URLSearchParams

  constructor(channels: Channels, query: URLSearchParams) {
    this.#channels = channels
    this.#query = query
    // Like the kubelet, signal the start of the process with an empty message on the first output channel.
    this.#channels.send([STDOUT, STDERR].find((channel) => this.#has(channel)) ?? STATUS, '')
  }

  /** Whether the client has attached standard input; without it a process sees the end of input immediately. */
  get hasInput(): boolean {
    return this.#has(STDIN)
  }

  read(receiver: InputReceiver): void {
    this.#channels.receive(STDIN, {
      onData: (channel, data) => channel === STDIN && receiver.onData(data),
      onEnd: (channel) => channel === STDIN && receiver.onEnd(),
    })
  }

  writeOutput(data: string | Uint8Array): void {
    this.#write(STDOUT, Buffer.from(data))
  }

  writeError(text: string): void {
    this.#write(STDERR, Buffer.from(text))
  }

  /** Sends the exit status of the process, and closes the connection. */
  exit(code: number): void {
    const status = code === 0 ? { metadata: {}, status: 'Success' } : failed(code)
    // Before v4 the protocol had no status for success.
    const isOld = !/^v[45]\./.test(this.#channels.protocol)
    if (!isOld) this.#channels.send(STATUS, JSON.stringify(status))
    else if (code !== 0) this.#channels.send(STATUS, failed(code).message)
    this.#channels.close()
  }

  #write(channel: number, data: Buffer): void {
    if (!this.#has(channel)) return
    for (let at = 0; at < data.length; at += CHUNK_BYTES) {
      this.#channels.send(channel, data.subarray(at, at + CHUNK_BYTES))
    }
  }

  /** Whether the client wants a stream. A request that names none, which the kubelet rejects, has all of them. */
  #has(channel: number): boolean {
    const flag = FLAGS[channel] ?? ''
    if (!FLAGS.some((name) => this.#query.has(name))) return true
    return ['true', '1'].includes(this.#query.get(flag) ?? '')
  }
}

interface ExitStatus {
  readonly metadata: object
  readonly status: 'Failure'
  readonly message: string
  readonly reason: string
  readonly details: object
}

function failed(code: number): ExitStatus {
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}
