import { ask } from './secret.js'

/** The program sends a snapshot at least every five seconds; after three missing ones the connection is lost. */
const IDLE_MS = 15_000
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 5000
/** Larger than a snapshot with thousands of identities. */
const MAX_LINE_LENGTH = 32_000_000

/**
 * Receives the state of the program while the page is open, and reconnects.
 *
 * Calls `onState` with `live`, `lost` (with the time of the next attempt) or `stranger` (the secret is not accepted).
 */
export class Connection {
  #onSnapshot
  #onState
  #attempt
  #timer
  #pause = FIRST_PAUSE_MS

  constructor({ onSnapshot, onState }) {
    this.#onSnapshot = onSnapshot
    this.#onState = onState
  }

  /** Connects, or reconnects immediately. */
  open() {
    clearTimeout(this.#timer)
    this.#attempt?.abort()
    const attempt = new AbortController()
    this.#attempt = attempt
    this.#follow(attempt).then(
      () => this.#lose(attempt),
      () => this.#lose(attempt),
    )
  }

  async #follow(attempt) {
    const timer = new IdleTimer(() => attempt.abort())
    try {
      const response = await ask('/state', { signal: attempt.signal })
      if (response.status === 401) {
        this.#attempt = undefined
        this.#onState({ name: 'stranger' })
        return
      }
      if (!response.ok) return
      for await (const line of lines(response.body, timer)) {
        if (this.#attempt !== attempt) return
        const snapshot = JSON.parse(line)
        this.#pause = FIRST_PAUSE_MS
        this.#onState({ name: 'live' })
        this.#onSnapshot(snapshot)
      }
    } finally {
      timer.stop()
      attempt.abort()
    }
  }

  #lose(attempt) {
    if (this.#attempt !== attempt) return
    const pause = this.#pause
    this.#pause = Math.min(pause * 2, MAX_PAUSE_MS)
    this.#onState({ name: 'lost', retryAt: Date.now() + pause })
    this.#timer = setTimeout(() => this.open(), pause)
  }
}

class IdleTimer {
  #onIdle
  #timer

  constructor(onIdle) {
    this.#onIdle = onIdle
    this.restart()
  }

  restart() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onIdle, IDLE_MS)
  }

  stop() {
    clearTimeout(this.#timer)
  }
}

async function* lines(body, timer) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    timer.restart()
    const parts = (rest + value).split('\n')
    rest = parts.pop()
    if (rest.length > MAX_LINE_LENGTH) throw new RangeError('a line of the stream is too long')
    yield* parts
  }
}
