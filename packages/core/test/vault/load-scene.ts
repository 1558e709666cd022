import type { Sandbox } from '@kubecred/sandbox'
import {
  type ConnectionFields,
  type LoginContext,
  type LoginHandler,
  PermanentError,
  TemporaryError,
} from 'kubecred/vault'
import { LoginPace } from './login-pace.ts'

const RETRY_DELAY_MS = 100
/** After three refusals the pauses are 1, 2 and 4 s. */
const MAX_REVOCATIONS = 3

/** Which request, and whether it may only go to one server. */
export const ID_HEADER = 'x-load-id'

/** A small seeded generator (mulberry32): the same seed, the same run. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A login handler of one cluster whose credentials are revoked, expire, fail to come and come again. */
export class MovingLogin {
  readonly id: string
  readonly sandbox: Sandbox
  /** Everything it ever returned. */
  readonly tokens = new Set<string>()
  /** What is wrong with when it was asked. */
  readonly problems: string[] = []
  attempts = 0
  /** Pauses are a second, doubling, give or take a fifth; and two clocks never quite agree. */
  readonly #pace = new LoginPace({ spread: 0.2, slackMs: 5 })
  readonly #random: () => number
  #last: string | undefined
  #revocations = 0

  constructor(id: string, sandbox: Sandbox, random: () => number) {
    this.id = id
    this.sandbox = sandbox
    this.#random = random
  }

  readonly handler: LoginHandler = async ({ attempt, refused }: LoginContext) => {
    this.attempts += 1
    const problem = this.#pace.begins(performance.now(), attempt, refused !== undefined)
    if (problem !== undefined) this.problems.push(`${this.id} ${problem}`)
    await new Promise((resolve) => setTimeout(resolve, this.#random() * 30))
    // The first login succeeds: requests for a server that no login has named yet are refused, which is another test.
    const drawn = this.tokens.size === 0 ? 1 : this.#random()
    const now = performance.now()
    if (drawn < 0.1) {
      this.#pace.willRetry(now, RETRY_DELAY_MS)
      throw new TemporaryError('busy', { delayMs: RETRY_DELAY_MS })
    }
    this.#pace.ended(now, drawn >= 0.2)
    if (drawn < 0.15) throw new PermanentError('closed for today')
    return drawn < 0.2 ? undefined : this.#issue()
  }

  /** Revokes what was returned last; a limited number of times, because each time the next login comes later. */
  revoke(): void {
    if (this.#last === undefined || this.#revocations >= MAX_REVOCATIONS) return
    this.#revocations += 1
    this.sandbox.revoke(this.#last)
  }

  #issue(): ConnectionFields {
    // Some live for a second or two, some until they are revoked.
    const lifetimeMs = this.#random() < 0.5 ? 800 + Math.floor(this.#random() * 1500) : undefined
    const user = `${this.id}-${this.tokens.size}`
    const { token } = this.sandbox.issueToken({ user, ...(lifetimeMs && { lifetimeMs }) })
    this.tokens.add(token)
    this.#last = token
    const { url: server, caPem: caData } = this.sandbox
    const expiration = lifetimeMs === undefined ? undefined : new Date(Date.now() + lifetimeMs)
    return { server, caData, token, expiration }
  }
}

/** Notes for every request which servers it reached with which token. */
export function watchServer(
  sandbox: Sandbox,
  seen: (id: string, token: string | undefined) => void,
): void {
  sandbox.respondWith(({ headers }) => {
    seen(String(headers[ID_HEADER]), headers.authorization?.replace('Bearer ', ''))
    return undefined
  })
}
