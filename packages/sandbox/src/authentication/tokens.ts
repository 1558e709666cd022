import { randomBytes } from 'node:crypto'
import type { UserInfo } from './user-info.ts'

/** The user and the lifetime of a token. */
export interface TokenOptions {
  readonly user: string
  readonly groups?: readonly string[] | undefined
  readonly uid?: string | undefined
  /** By default the token never expires. */
  readonly lifetimeMs?: number | undefined
}

/** A bearer token and its expiry, if it has one. */
export interface IssuedToken {
  readonly token: string
  /** In RFC 3339, as in an `ExecCredential`. */
  readonly expirationTimestamp?: string
}

interface Entry {
  readonly user: UserInfo
  readonly expiresAt: number
}

const TOKEN_BYTES = 24

/** The bearer tokens of the server. */
export class Tokens {
  readonly #entries = new Map<string, Entry>()
  readonly #revoked = new Set<string>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Issues a token that is valid immediately. */
  issue({ user, groups = [], uid, lifetimeMs }: TokenOptions): IssuedToken {
    const token = `sandbox-${randomBytes(TOKEN_BYTES).toString('base64url')}`
    const expiresAt = lifetimeMs === undefined ? Number.POSITIVE_INFINITY : this.#now() + lifetimeMs
    const info = { username: user, groups: [...groups], ...(uid === undefined ? {} : { uid }) }
    this.#entries.set(token, { user: info, expiresAt })
    if (lifetimeMs === undefined) return { token }
    return { token, expirationTimestamp: new Date(expiresAt).toISOString() }
  }

  /** Revokes one token, or all tokens issued to a user so far. */
  revoke(tokenOrUser: string): void {
    this.#revoked.add(tokenOrUser)
    for (const [token, { user }] of this.#entries) {
      if (user.username === tokenOrUser) this.#revoked.add(token)
    }
  }

  /** Returns the user of a token; undefined if it is unknown, revoked or expired. */
  find(token: string): UserInfo | undefined {
    const entry = this.#entries.get(token)
    if (entry === undefined || entry.expiresAt <= this.#now()) return undefined
    return this.#revoked.has(token) ? undefined : entry.user
  }

  /** Returns the user name that a token was issued to, even if it is revoked or expired. */
  ownerOf(token: string): string | undefined {
    return this.#entries.get(token)?.user.username
  }
}
