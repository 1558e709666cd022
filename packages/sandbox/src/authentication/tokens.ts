import { randomBytes } from 'node:crypto'
import type { UserInfo } from './user-info.ts'

/** Whom a token is for and how long it lives. */
export interface TokenOptions {
  readonly user: string
  readonly groups?: readonly string[] | undefined
  readonly uid?: string | undefined
  /** Without it the token never expires. */
  readonly lifetimeMs?: number | undefined
}

/** A bearer token and, if it expires, when. */
export interface IssuedToken {
  readonly token: string
  /** RFC 3339, as `ExecCredential` wants it. */
  readonly expirationTimestamp?: string
}

interface Entry {
  readonly user: UserInfo
  readonly expiresAt: number
}

const TOKEN_BYTES = 24

/** The bearer tokens that the server knows. */
export class Tokens {
  readonly #entries = new Map<string, Entry>()
  readonly #revoked = new Set<string>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  issue({ user, groups = [], uid, lifetimeMs }: TokenOptions): IssuedToken {
    const token = `sandbox-${randomBytes(TOKEN_BYTES).toString('base64url')}`
    const expiresAt = lifetimeMs === undefined ? Number.POSITIVE_INFINITY : this.#now() + lifetimeMs
    const info = { username: user, groups: [...groups], ...(uid === undefined ? {} : { uid }) }
    this.#entries.set(token, { user: info, expiresAt })
    if (lifetimeMs === undefined) return { token }
    return { token, expirationTimestamp: new Date(expiresAt).toISOString() }
  }

  /** Refuses one token, or all tokens issued to a user so far. */
  revoke(tokenOrUser: string): void {
    this.#revoked.add(tokenOrUser)
    for (const [token, { user }] of this.#entries) {
      if (user.username === tokenOrUser) this.#revoked.add(token)
    }
  }

  /** Says whose token this is; nobody's, if it is unknown, revoked or expired. */
  find(token: string): UserInfo | undefined {
    const entry = this.#entries.get(token)
    if (entry === undefined || entry.expiresAt <= this.#now()) return undefined
    return this.#revoked.has(token) ? undefined : entry.user
  }

  /** Says whom a token was issued to, also when it is revoked or expired. */
  ownerOf(token: string): string | undefined {
    return this.#entries.get(token)?.user.username
  }
}
