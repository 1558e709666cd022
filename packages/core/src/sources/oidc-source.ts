import { OidcConfigError, OidcRefusedError } from '../errors/index.ts'
import type { OidcConfig } from '../kubeconfig/connection.ts'
import { describeEntry } from '../kubeconfig/quote-name.ts'
import type { Clock } from '../ports/clock.ts'
import type { OidcIssuer } from '../ports/oidc.ts'
import type { Acquired } from '../protocol/credential.ts'
import { jwtExpiry } from '../protocol/jwt.ts'
import { formatRfc3339 } from '../protocol/rfc3339.ts'
import type { Secret } from '../secret/secret.ts'
import { isSame, type OidcSession } from './oidc-session.ts'
import type { Ask, Source } from './source.ts'

/** A token is not used in its last seconds: the request must arrive before it ends. client-go's figure. */
const BEFORE_EXPIRY_MS = 10_000
/** What the machine asks for ahead of time before this part of a life has passed is asked for another's sake. */
const EARLIEST_REFRESH = 0.4

export interface OidcPorts {
  readonly issuer: OidcIssuer
  readonly clock: Clock
}

/** A token on its way to requests. */
interface HandedOut {
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
  let last: HandedOut | undefined

  return {
    label: { kind: 'oidc', name: config.issuer },
    acquire: (ask) => session.alone(() => acquire(ask)),
  }

  async function acquire(ask: Ask): Promise<Acquired> {
    await session.look()
    const ready = readyToken(ask)
    if (ready === undefined) await refresh(ask)
    else await session.save(ask.report)
    return handOut(ready)
  }

  /** The id token we hold, if it may be used for this. */
  function readyToken({ reason }: Ask): Secret | undefined {
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

  async function refresh(ask: Ask): Promise<void> {
    try {
      await refreshOnce(ask)
    } catch (error) {
      // Between our look and the refusal somebody else may have used the same refresh token, and saved the next.
      const isSpent = error instanceof OidcRefusedError && error.reason === 'invalid_grant'
      if (!isSpent || !(await session.look())) throw error
      if (readyToken(ask) === undefined) await refreshOnce(ask)
    }
  }

  async function refreshOnce(ask: Ask): Promise<void> {
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

  function cannotRefresh({ reason }: Ask): OidcConfigError {
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

function describeToken(token: Secret | undefined, reason: Ask['reason']): string {
  if (token === undefined) return 'no id-token either'
  const expiry = jwtExpiry(token.expose())
  if (expiry === undefined) return 'its id-token is no JWT with an expiry'
  if (reason === 'refused') return 'the server refused its id-token'
  return `its id-token expired at ${formatRfc3339(expiry)}`
}
