import { OidcConfigError, OidcRefusedError } from '../errors/index.ts'
import { jwtExpiry } from '../formats/jwt.ts'
import { formatRfc3339 } from '../formats/rfc3339.ts'
import type { OidcConfig } from '../kubeconfig/connection.ts'
import { describeEntry } from '../kubeconfig/problem.ts'
import type { Clock } from '../ports/clock.ts'
import type { OidcEntry, OidcIssuer, OidcTokens } from '../ports/oidc.ts'
import type { Secret } from '../secret/secret.ts'
import type { AcquireContext, Acquired, Source } from './source.ts'

/** A token is not used in its last seconds: the request must arrive before it ends. client-go's figure. */
const BEFORE_EXPIRY_MS = 10_000
/** What the machine asks for ahead of time before this part of a life has passed is asked for another's sake. */
const EARLIEST_REFRESH = 0.4

interface OidcPorts {
  readonly issuer: OidcIssuer
  readonly clock: Clock
}

/** A token on its way to requests. */
interface ExposedCredential {
  readonly token: Secret
  readonly at: number
  readonly expiresAt: number
}

/**
 * A login at an OpenID Connect issuer as a source: the id token while it is good, else a refresh.
 *
 * Before the issuer is asked, the entry is read again: what kubectl or a new login wrote there is taken first.
 */
export function oidcSource(config: OidcConfig, session: OidcSession, ports: OidcPorts): Source {
  const { clock, issuer } = ports
  let last: ExposedCredential | undefined

  return {
    label: { kind: 'oidc', name: config.issuer },
    acquire: (ask) => session.alone(() => acquire(ask)),
  }

  async function acquire(ask: AcquireContext): Promise<Acquired> {
    await session.look()
    const ready = readyToken(ask)
    if (ready === undefined) await refresh(ask)
    else await session.save(ask.report)
    return handOut(ready)
  }

  /** The id token we hold, if it may be used for this. */
  function readyToken({ reason }: AcquireContext): Secret | undefined {
    const { idToken, refreshToken } = session.tokens
    const expiresAt = idToken && usableUntil(idToken)
    if (idToken === undefined || expiresAt === undefined || expiresAt <= clock.now())
      return undefined
    if (last === undefined || !isSame(idToken, last.token)) return idToken
    if (reason === 'refused') return undefined
    const isEarly = clock.now() < last.at + EARLIEST_REFRESH * (last.expiresAt - last.at)
    const mustRefresh = reason === 'ahead' && refreshToken !== undefined && !isEarly
    return mustRefresh ? undefined : idToken
  }

  async function refresh(ask: AcquireContext): Promise<void> {
    try {
      await refreshOnce(ask)
    } catch (error) {
      // Between our look and the refusal somebody else may have used the same refresh token, and saved the next.
      const isSpent = error instanceof OidcRefusedError && error.reason === 'invalid_grant'
      if (!isSpent || !(await session.look())) throw error
      if (readyToken(ask) === undefined) await refreshOnce(ask)
    }
  }

  async function refreshOnce(ask: AcquireContext): Promise<void> {
    const { refreshToken } = session.tokens
    if (refreshToken === undefined) throw cannotRefresh(ask)
    const grant = await issuer.refresh(config, refreshToken, ask.signal)
    // An issuer that does not rotate names no refresh token, and the old one stays.
    await session.replace({ refreshToken, ...grant }, ask.report)
  }

  function handOut(ready: Secret | undefined): Acquired {
    const token = ready ?? session.tokens.idToken
    const expiresAt = token && usableUntil(token)
    if (token === undefined || expiresAt === undefined) {
      throw new OidcRefusedError(config.issuer, 'gave an id_token whose expiry cannot be read', {
        hint: 'Ask the people who run the issuer: an id_token must be a JWT with exp.',
      })
    }
    const isOther = last === undefined || !isSame(token, last.token)
    if (isOther) last = { token, at: clock.now(), expiresAt }
    return { credential: { token }, expiresAt }
  }

  function cannotRefresh({ reason }: AcquireContext): OidcConfigError {
    const { user: name, file } = config.entry
    const who = describeEntry('user', { name, file })
    const { idToken } = session.tokens
    return new OidcConfigError(
      `${who} has no refresh-token, and ${describeToken(idToken, reason)}`,
      {
        hint: 'Log in again, with the scope offline_access, so that the kubeconfig gets new tokens.',
      },
    )
  }
}

function usableUntil(token: Secret): number | undefined {
  const expiry = jwtExpiry(token.expose())
  return expiry === undefined ? undefined : expiry - BEFORE_EXPIRY_MS
}

function describeToken(token: Secret | undefined, reason: AcquireContext['reason']): string {
  if (token === undefined) return 'no id-token either'
  const expiry = jwtExpiry(token.expose())
  if (expiry === undefined) return 'its id-token is no JWT with an expiry'
  if (reason === 'refused') return 'the server refused its id-token'
  return `its id-token expired at ${formatRfc3339(expiry)}`
}

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
  async replace(tokens: OidcTokens, report: AcquireContext['report']): Promise<void> {
    const isRotated = !isSame(tokens.refreshToken, this.#tokens.refreshToken)
    this.#keep(tokens)
    await this.save(report)
    const isSaved = [...this.#entries.keys()].some((entry) => entry.isSaved)
    if (!isRotated || isSaved || this.#hasWarned) return
    this.#hasWarned = true
    report({ type: 'warning', message: this.#describeUnsaved() })
  }

  /** Writes the tokens into every entry that wants them and has others. A failure is a warning: the tokens work. */
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

function isSame(a: Secret | undefined, b: Secret | undefined): boolean {
  return a?.expose() === b?.expose()
}
