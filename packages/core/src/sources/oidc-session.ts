import type { OidcEntry, OidcTokens } from '../ports/oidc.ts'
import { jwtExpiry } from '../protocol/jwt.ts'
import type { Secret } from '../secret/secret.ts'
import type { Ask } from './source.ts'

/**
 * One login at an issuer: its newest tokens, and the user entries it was read from.
 *
 * A refresh token that the issuer rotates is good once; using an old one again makes many issuers end the
 * whole login. So all connections of a process that began with the same one share this.
 */
export class OidcSession {
  /** Tells one login from another, whatever its tokens are by now. */
  readonly id: string
  /** Called with every refresh token that takes the place of another. */
  readonly #onRotated: (refreshToken: Secret) => void
  /** The entries, each with the tokens it had when we last looked. */
  readonly #entries = new Map<OidcEntry, OidcTokens>()
  #tokens: OidcTokens
  #last: Promise<unknown> = Promise.resolve()
  #hasWarned = false

  constructor(
    id: string,
    tokens: OidcTokens,
    onRotated: (refreshToken: Secret) => void = () => {},
  ) {
    this.id = id
    this.#tokens = tokens
    this.#onRotated = onRotated
  }

  get tokens(): OidcTokens {
    return this.#tokens
  }

  /** Adds an entry for as long as a connection uses it. Returns how to leave. */
  join(entry: OidcEntry, tokens: OidcTokens): () => void {
    this.#entries.set(entry, tokens)
    const { idToken } = tokens
    // An issuer that does not rotate leaves the refresh token as it was, while others refresh the id token.
    if (idToken && expiryOf(idToken) > expiryOf(this.#tokens.idToken)) {
      this.#tokens = { ...this.#tokens, idToken }
    }
    return () => this.#entries.delete(entry)
  }

  /** Runs one piece of work at a time. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  /** Takes over what somebody else, such as kubectl or a new login, wrote into an entry. Tells whether they did. */
  async look(): Promise<boolean> {
    let isNew = false
    for (const [entry, seen] of this.#entries) {
      const found = await entry.read()
      if (found === undefined || areSame(found, seen)) continue
      this.#entries.set(entry, found)
      if (areSame(found, this.#tokens)) continue
      this.#keep({ ...this.#tokens, ...found })
      isNew = true
    }
    return isNew
  }

  /** Keeps new tokens at once, before anything that can fail, then writes them where that is wanted. */
  async replace(tokens: OidcTokens, report: Ask['report']): Promise<void> {
    const isRotated = !isSame(tokens.refreshToken, this.#tokens.refreshToken)
    this.#keep(tokens)
    await this.save(report)
    const isSaved = [...this.#entries.keys()].some((entry) => entry.isSaved)
    if (!isRotated || isSaved || this.#hasWarned) return
    this.#hasWarned = true
    report({ type: 'warning', message: this.#describeUnsaved() })
  }

  /** Writes the tokens into every entry that wants them and has others. A failure is a warning: the tokens work. */
  async save(report: Ask['report']): Promise<void> {
    for (const [entry, seen] of this.#entries) {
      if (!entry.isSaved || areSame(seen, this.#tokens)) continue
      const problem = await this.#saveInto(entry, seen)
      if (problem === undefined) continue
      report({
        type: 'warning',
        message: `the new tokens of ${entry.where} were not saved: ${problem}`,
      })
    }
  }

  async #saveInto(entry: OidcEntry, seen: OidcTokens): Promise<string | undefined> {
    const tokens = this.#tokens
    try {
      if ((await entry.save(tokens, seen)) === 'changed') {
        return 'somebody else changed them at the same time'
      }
      this.#entries.set(entry, tokens)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  #keep(tokens: OidcTokens): void {
    const { refreshToken } = tokens
    const isRotated = !isSame(refreshToken, this.#tokens.refreshToken)
    this.#tokens = tokens
    if (isRotated && refreshToken !== undefined) this.#onRotated(refreshToken)
  }

  #describeUnsaved(): string {
    const [entry] = this.#entries.keys()
    return (
      `the issuer replaced the refresh token of ${entry?.where ?? 'this login'}; the new one is only in memory, ` +
      'so the next program that uses the kubeconfig may have to log in again. ' +
      'Pass saveOidcTokens: true to connect() to have it written into the file'
    )
  }
}

function areSame(a: OidcTokens, b: OidcTokens): boolean {
  return isSame(a.idToken, b.idToken) && isSame(a.refreshToken, b.refreshToken)
}

function expiryOf(token: Secret | undefined): number {
  return (token && jwtExpiry(token.expose())) ?? 0
}

export function isSame(a: Secret | undefined, b: Secret | undefined): boolean {
  return a?.expose() === b?.expose()
}
