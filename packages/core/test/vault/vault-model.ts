/**
 * A model of what a vault must do, as simple as possible.
 *
 * It does not know how the vault works: it receives what handlers returned, what servers responded and how much time
 * passed, and says which credential each request may get.
 */

const FIRST_EXCLUSION_MS = 30_000
const MAX_EXCLUSION_MS = 600_000

/** What a handler returned. */
export interface ModelLogin {
  readonly token: string
  readonly server: string
  readonly priority: number
  readonly expiresAt: number
}

interface Exclusion {
  refusals: number
  until: number
  isTried: boolean
}

export class VaultModel {
  /** What every handler returned last. */
  readonly #held = new Map<string, ModelLogin>()
  readonly #exclusions = new Map<string, Exclusion>()
  readonly #everRefused = new Set<string>()
  readonly #handlers: readonly string[]

  constructor(handlers: readonly string[]) {
    this.#handlers = handlers
  }

  returned(handler: string, login: ModelLogin): void {
    this.#held.set(handler, login)
  }

  /** The logins of the highest priority that a request for this server, or any, may get. */
  choices(origin: string | undefined, now: number): ModelLogin[] {
    const usable = this.#alive(now).filter(
      (login) => !this.isExcluded(login, now) && (origin ?? login.server) === login.server,
    )
    const highest = Math.max(...usable.map(({ priority }) => priority))
    return usable.filter(({ priority }) => priority === highest)
  }

  /** Whether this handler is logged in, at another server than this. */
  isElsewhere(handler: string, origin: string | undefined, now: number): boolean {
    const login = this.#held.get(handler)
    return (
      origin !== undefined &&
      login !== undefined &&
      now < login.expiresAt &&
      login.server !== origin
    )
  }

  /**
   * Whether a handler is logged in, none at this server, and none can come to it.
   *
   * A handler without a login may, except if its last login returned nothing. Even then it may if the one before
   * was at this server.
   */
  isForeign(
    origin: string | undefined,
    now: number,
    returnedNothing: (handler: string) => boolean,
  ): boolean {
    if (origin === undefined || this.#alive(now).length === 0) return false
    return this.#handlers.every((handler) => {
      const login = this.#held.get(handler)
      const isAlive = login !== undefined && now < login.expiresAt
      return login?.server !== origin && (isAlive || returnedNothing(handler))
    })
  }

  isExcluded({ token, server }: ModelLogin, now: number): boolean {
    return now < (this.#exclusions.get(token + server)?.until ?? 0)
  }

  /** The outcomes of a handler that an error may report. */
  outcomesOf(handler: string, now: number): string[] {
    const login = this.#held.get(handler)
    const others = ['nothing', 'failed', 'running']
    if (login === undefined || now > login.expiresAt) return others
    // Of two things that happen at the same moment, either may come first.
    if (now === login.expiresAt) return [...others, 'refused', 'credential']
    if (this.isExcluded(login, now)) return ['refused']
    // It may be tried again, or has been asked for something better since.
    const wasRefused = this.#everRefused.has(login.token + login.server)
    return wasRefused ? [...others, 'refused', 'credential'] : ['credential']
  }

  /** Handlers that returned this last. */
  holdersOf({ token, server }: ModelLogin): string[] {
    return [...this.#held].flatMap(([handler, login]) =>
      login.token === token && login.server === server ? [handler] : [],
    )
  }

  /** A request received it. After an exclusion this is a trial, and other requests skip it. */
  taken({ token, server }: ModelLogin, now: number): void {
    const known = this.#exclusions.get(token + server)
    if (known === undefined) return
    known.until = now + FIRST_EXCLUSION_MS
    known.isTried = true
  }

  /** A server said no. Late answers of requests that were on their way change nothing. */
  refused({ token, server }: ModelLogin, now: number): void {
    this.#everRefused.add(token + server)
    const known = this.#exclusions.get(token + server) ?? { refusals: 0, until: 0, isTried: false }
    if (now < known.until && !known.isTried) return
    const pause = Math.min(FIRST_EXCLUSION_MS * 2 ** known.refusals, MAX_EXCLUSION_MS)
    this.#exclusions.set(token + server, {
      refusals: known.refusals + 1,
      until: now + pause,
      isTried: false,
    })
  }

  accepted({ token, server }: ModelLogin): void {
    this.#exclusions.delete(token + server)
  }

  #alive(now: number): ModelLogin[] {
    return [...this.#held.values()].filter(({ expiresAt }) => now < expiresAt)
  }
}
