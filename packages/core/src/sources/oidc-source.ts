import { OidcConfigError, OidcRefusedError } from '../errors/index.ts'
import { jwtExpiry } from '../formats/jwt.ts'
import { formatRfc3339 } from '../formats/rfc3339.ts'
import type { OidcConfig } from '../kubeconfig/connection.ts'
import { describeEntry } from '../kubeconfig/problem.ts'
import type { Clock } from '../ports/clock.ts'
import type { OidcEntry, OidcIssuer, OidcTokens } from '../ports/oidc.ts'
import type { Secret } from '../secret/secret.ts'
import type { AcquireContext, Acquired, Source } from './source.ts'

/** A token is not used this close to its expiry, as in client-go: the request must arrive before. */
const BEFORE_EXPIRY_MS = 10_000
/**
 * The share of a token's lifetime that must have passed before an early run refreshes it. A run before that was started
 * for the sake of a credential it is combined with.
 */
const MIN_REFRESH_SHARE = 0.4

interface OidcPorts {
  readonly issuer: OidcIssuer
  readonly clock: Clock
}

/** The token last returned. */
interface IssuedToken {
  readonly token: Secret
  readonly at: number
  readonly expiresAt: number
}

/**
 * Returns a source for a login at an OpenID Connect issuer: the id token while it is valid, otherwise a refreshed one.
 *
 * Before a refresh the kubeconfig entry is read again, in case kubectl or a new login has written newer tokens.
 */
export function oidcSource(config: OidcConfig, session: OidcSession, ports: OidcPorts): Source {
  const { clock, issuer } = ports
  let last: IssuedToken | undefined

  return {
    label: { kind: 'oidc', name: config.issuer },
    acquire: (ask) => session.runExclusive(() => acquire(ask)),
  }

  async function acquire(ask: AcquireContext): Promise<Acquired> {
    await session.reload()
    const ready = readyToken(ask)
    if (ready === undefined) await refresh(ask)
    else await session.save(ask.report)
    return issue(ready)
  }

  /** The current id token, if it can be used for this run. */
  function readyToken({ reason }: AcquireContext): Secret | undefined {
    const { idToken, refreshToken } = session.tokens
    const expiresAt = idToken && usableUntil(idToken)
    if (idToken === undefined || expiresAt === undefined || expiresAt <= clock.now())
      return undefined
    if (last === undefined || !isSame(idToken, last.token)) return idToken
    if (reason === 'refused') return undefined
    const isEarly = clock.now() < last.at + MIN_REFRESH_SHARE * (last.expiresAt - last.at)
    const mustRefresh = reason === 'ahead' && refreshToken !== undefined && !isEarly
    return mustRefresh ? undefined : idToken
  }

  async function refresh(ask: AcquireContext): Promise<void> {
    try {
      await refreshOnce(ask)
    } catch (error) {
      // Since the reload, another program may have used the same refresh token and saved the next one.
      const isSpent = error instanceof OidcRefusedError && error.reason === 'invalid_grant'
      if (!isSpent || !(await session.reload())) throw error
      if (readyToken(ask) === undefined) await refreshOnce(ask)
    }
  }

  async function refreshOnce(ask: AcquireContext): Promise<void> {
    const { refreshToken } = session.tokens
    if (refreshToken === undefined) throw cannotRefresh(ask)
    const grant = await issuer.refresh(config, refreshToken, ask.signal)
    // An issuer that does not rotate refresh tokens returns none, and the old one stays valid. A new one is kept even if
    // it came alone: the old one is spent, and using it again could end the login.
    await session.replace({ ...session.tokens, ...grant }, ask.report)
    if (grant.idToken === undefined) throw missingIdToken(config.issuer)
  }

  function issue(ready: Secret | undefined): Acquired {
    const token = ready ?? session.tokens.idToken
    const expiresAt = token && usableUntil(token)
    if (token === undefined || expiresAt === undefined) {
      throw new OidcRefusedError(config.issuer, 'returned an id_token without a readable expiry', {
        hint: 'Ask the operator of the issuer: an id_token must be a JWT with exp.',
      })
    }
    const isOther = last === undefined || !isSame(token, last.token)
    if (isOther) last = { token, at: clock.now(), expiresAt }
    return { credential: { token }, expiresAt }
  }

  function cannotRefresh({ reason }: AcquireContext): OidcConfigError {
    const { entry } = config
    const who = describeEntry('user', { ...entry, name: entry.user })
    const { idToken } = session.tokens
    return new OidcConfigError(
      `${who} has no refresh-token, and ${describeToken(idToken, reason)}`,
      {
        hint: 'Log in again, with the scope offline_access, so that the kubeconfig gets new tokens.',
      },
    )
  }
}

/** Returns the error for a refresh that succeeded without an id token. */
export function missingIdToken(issuer: string): OidcRefusedError {
  return new OidcRefusedError(issuer, 'answered the refresh without an id_token', {
    hint: 'Log in again with the scope openid; some issuers return an id_token only at login.',
  })
}

function usableUntil(token: Secret): number | undefined {
  const expiry = jwtExpiry(token.expose())
  return expiry === undefined ? undefined : expiry - BEFORE_EXPIRY_MS
}

function describeToken(token: Secret | undefined, reason: AcquireContext['reason']): string {
  if (token === undefined) return 'no id-token either'
  const expiry = jwtExpiry(token.expose())
  if (expiry === undefined) return 'its id-token is not a JWT with an expiry'
  if (reason === 'refused') return 'the server refused its id-token'
  return `its id-token expired at ${formatRfc3339(expiry)}`
}

/**
 * A login at an OpenID Connect issuer: its newest tokens, and the kubeconfig entries they came from.
 *
 * A rotated refresh token is valid once, and many issuers revoke the login if an old one is used again. All connections
 * of a process that started with the same refresh token therefore share one session.
 */
export class OidcSession {
  /** Identifies the login, independent of its current tokens. */
  readonly id: string
  /** Called with every refresh token that replaces another. */
  readonly #onRotated: (refreshToken: Secret) => void
  /** The entries, each with the tokens last read from it. */
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

  /** Adds the entry of a connection. Returns a function that removes it. */
  join(entry: OidcEntry, tokens: OidcTokens): () => void {
    this.#entries.set(entry, tokens)
    const { idToken } = tokens
    // If the issuer does not rotate refresh tokens, the entry may have the same one with a newer id token.
    if (idToken && expiryOf(idToken) > expiryOf(this.#tokens.idToken)) {
      this.#tokens = { ...this.#tokens, idToken }
    }
    return () => this.#entries.delete(entry)
  }

  /** Runs `work` after all earlier work of this session has ended. */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  /** Reads the entries again and adopts tokens written by kubectl or a new login. Returns whether there were any. */
  async reload(): Promise<boolean> {
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

  /** Adopts new tokens, before anything that can fail, then saves them to the entries that ask for it. */
  async replace(tokens: OidcTokens, report: AcquireContext['report']): Promise<void> {
    const isRotated = !isSame(tokens.refreshToken, this.#tokens.refreshToken)
    this.#keep(tokens)
    await this.save(report)
    const isSaved = [...this.#entries.keys()].some((entry) => entry.isSaved)
    if (!isRotated || isSaved || this.#hasWarned) return
    this.#hasWarned = true
    report({ type: 'warning', message: this.#describeUnsaved() })
  }

  /**
   * Writes the tokens to every entry that saves tokens and has older ones.
   *
   * A failure is only a warning: the tokens are valid.
   */
  async save(report: AcquireContext['report']): Promise<void> {
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
        return 'another program changed them at the same time'
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
    if (entry?.hasFile === false) {
      return (
        `the issuer replaced the refresh token of ${entry.where}, which has no file to save it in; the new one is ` +
        'only in memory, so the next program that uses the kubeconfig may have to log in again'
      )
    }
    return (
      `the issuer replaced the refresh token of ${entry?.where ?? 'this login'}; the new one is only in memory, ` +
      'so the next program that uses the kubeconfig may have to log in again. ' +
      'Pass saveOidcTokens: true to connect() to write it to the file'
    )
  }
}

function areSame(a: OidcTokens, b: OidcTokens): boolean {
  return isSame(a.idToken, b.idToken) && isSame(a.refreshToken, b.refreshToken)
}

function expiryOf(token: Secret | undefined): number {
  return (token && jwtExpiry(token.expose())) ?? 0
}

function isSame(a: Secret | undefined, b: Secret | undefined): boolean {
  return a?.expose() === b?.expose()
}
