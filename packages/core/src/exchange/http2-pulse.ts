import type { ClientHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'

export interface PulseTimes {
  /** How often to look. */
  readonly lookMs: number
  /** How long nothing may come while streams are open before we ask. */
  readonly quietMs: number
  /** How long the answer may take. */
  readonly answerMs: number
  readonly idleMs: number
}

export interface PulseOwner {
  /** Whether streams are open. */
  isBusy(): boolean
  /** Called when there were none for long. */
  onIdle(): void
}

/**
 * Notices that a connection is dead, or that nobody needs it.
 *
 * A machine that is gone closes nothing: without a ping, a watch would wait for its next event for ever.
 */
export class Http2Pulse {
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #times: PulseTimes
  readonly #owner: PulseOwner
  readonly #timer: NodeJS.Timeout
  /** Since when nothing came, or nothing was asked for. */
  #quietSince = performance.now()
  #bytesRead = 0
  #isAsking = false

  constructor(session: ClientHttp2Session, socket: Socket, times: PulseTimes, owner: PulseOwner) {
    this.#session = session
    this.#socket = socket
    this.#times = times
    this.#owner = owner
    this.#timer = setInterval(() => this.#look(), times.lookMs).unref()
  }

  /** Counts from now: the first stream was opened, or the last one ended. */
  begin(): void {
    this.#quietSince = performance.now()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const { bytesRead } = this.#socket
    if (this.#owner.isBusy() && bytesRead !== this.#bytesRead) {
      this.#bytesRead = bytesRead
      this.begin()
      return
    }
    const quietMs = performance.now() - this.#quietSince
    if (!this.#owner.isBusy()) {
      if (quietMs >= this.#times.idleMs) this.#owner.onIdle()
    } else if (quietMs >= this.#times.quietMs && !this.#isAsking) this.#ask()
  }

  #ask(): void {
    const { answerMs } = this.#times
    const timer = setTimeout(() => this.#session.destroy(silent(answerMs)), answerMs).unref()
    this.#isAsking = this.#session.ping(() => {
      this.#isAsking = false
      clearTimeout(timer)
      this.begin()
    })
    if (!this.#isAsking) clearTimeout(timer)
  }
}

function silent(answerMs: number): Error {
  const message = `the server has gone silent: no answer to a ping within ${answerMs} ms`
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' })
}
