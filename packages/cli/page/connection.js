import { ask } from './secret.js'

/** The program says something every five seconds; three times nothing means that it is gone. */
const SILENCE_MS = 15_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 5000
/** A snapshot of thousands of identities is smaller. */
const LONGEST_LINE = 32_000_000

/**
 * Follows the state of the program for as long as the page is open.
 *
 * `onState` hears `live`, `lost` (with the time of the next try) and `stranger` (the secret is another one now).
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

  /** Begins, or tries again at once. */
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
    const watch = new Silence(() => attempt.abort())
    try {
      const response = await ask('/state', { signal: attempt.signal })
      if (response.status === 401) {
        this.#attempt = undefined
        this.#onState({ name: 'stranger' })
        return
      }
      if (!response.ok) return
      for await (const line of lines(response.body, watch)) {
        if (this.#attempt !== attempt) return
        const snapshot = JSON.parse(line)
        this.#pause = FIRST_PAUSE_MS
        this.#onState({ name: 'live' })
        this.#onSnapshot(snapshot)
      }
    } finally {
      watch.end()
      attempt.abort()
    }
  }

  #lose(attempt) {
    if (this.#attempt !== attempt) return
    const pause = this.#pause
    this.#pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    this.#onState({ name: 'lost', retryAt: Date.now() + pause })
    this.#timer = setTimeout(() => this.open(), pause)
  }
}

class Silence {
  #onSilence
  #timer

  constructor(onSilence) {
    this.#onSilence = onSilence
    this.heard()
  }

  heard() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onSilence, SILENCE_MS)
  }

  end() {
    clearTimeout(this.#timer)
  }
}

async function* lines(body, watch) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    watch.heard()
    const parts = (rest + value).split('\n')
    rest = parts.pop()
    if (rest.length > LONGEST_LINE) throw new RangeError('a line without an end')
    yield* parts
  }
}
