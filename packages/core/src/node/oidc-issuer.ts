import type { AuthorizationServer, ClientAuth } from 'oauth4webapi'
import { FileUnreadableError, OidcRefusedError, OidcUnreachableError } from '../errors/index.ts'
import type { OidcConfig } from '../kubeconfig/connection.ts'
import { isSafeAddress } from '../kubeconfig/oidc-config.ts'
import type { OidcGrant, OidcIssuer } from '../ports/oidc.ts'
import { Secret } from '../secret/secret.ts'
import { checkAuthority } from './load-authority.ts'
import { nodeFiles } from './node-files.ts'
import { oidcFetch } from './oidc-fetch.ts'
import {
  configError,
  explainConnection,
  explainRefusal,
  isPassing,
  showText,
} from './oidc-problems.ts'
import { withTimeLimit } from './time-limit.ts'

/** For discovery and refresh together. */
const TIME_LIMIT_MS = 30_000

/** Loaded when a refresh is needed: most programs never do one. */
type OAuth = typeof import('oauth4webapi')

/** Issuers on the network: discovery, then the refresh token grant. */
export function nodeOidcIssuer({ timeLimitMs = TIME_LIMIT_MS } = {}): OidcIssuer {
  return {
    async refresh(config, refreshToken, signal) {
      const ca = await loadIssuerAuthority(config)
      const oauth = await import('oauth4webapi')
      return withTimeLimit(timeLimitMs, signal, async (limited) => {
        const talk: Talk = { oauth, config, ca, signal: limited }
        const server = await discover(talk)
        return refreshAt(server, refreshToken, talk)
      }).catch((error: unknown) => {
        if (signal.aborted) throw signal.reason
        if (!(error instanceof Error && error.name === 'TimeoutError')) throw error
        const seconds = Math.round(timeLimitMs / 100) / 10
        throw new OidcUnreachableError(config.issuer, `it took longer than ${seconds} s`)
      })
    },
  }
}

interface Talk {
  readonly oauth: OAuth
  readonly config: OidcConfig
  readonly ca: string | undefined
  readonly signal: AbortSignal
}

function optionsOf({ oauth, config, ca, signal }: Talk) {
  return {
    signal,
    [oauth.customFetch]: oidcFetch(ca),
    // The configuration was checked: http means this machine itself.
    [oauth.allowInsecureRequests]: config.issuer.startsWith('http:'),
  }
}

async function discover(talk: Talk): Promise<AuthorizationServer> {
  const { oauth, config, signal } = talk
  const issuer = new URL(config.issuer)
  const response = await oauth
    .discoveryRequest(issuer, optionsOf(talk))
    .catch((cause: unknown) => fail(cause, config, signal))
  if (isPassing(response.status)) {
    throw new OidcUnreachableError(config.issuer, `its discovery answered ${response.status}`)
  }
  const body = await readJson(response.clone())
  // The library's own errors carry the whole answer, so none of them is passed on.
  const server = await oauth.processDiscoveryResponse(issuer, response).catch(() => undefined)
  if (server === undefined) {
    throw configError(config, describeDiscovery(response.status, body, issuer), {
      hint: 'Write idp-issuer-url exactly as the issuer calls itself in /.well-known/openid-configuration.',
    })
  }
  const { token_endpoint: endpoint } = server
  if (endpoint === undefined || !URL.canParse(endpoint) || !isSafeAddress(new URL(endpoint))) {
    throw configError(config, 'its discovery names no token_endpoint with https', {
      hint: 'Ask the people who run the issuer to correct token_endpoint.',
    })
  }
  return server
}

function describeDiscovery(status: number, body: unknown, expected: URL): string {
  if (status !== 200) return `its discovery answered ${status}, so it is no OpenID Connect issuer`
  const { issuer } = Object(body) as { issuer?: unknown }
  const isOther = typeof issuer === 'string' && issuer !== expected.href
  return isOther
    ? `the issuer calls itself ${JSON.stringify(showText(issuer, []))}`
    : 'its discovery is not the JSON that OpenID Connect asks for'
}

async function refreshAt(
  server: AuthorizationServer,
  refreshToken: Secret,
  talk: Talk,
): Promise<OidcGrant> {
  const { oauth, config, signal } = talk
  const client = { client_id: config.clientId }
  let refusal: Error | undefined
  for (const authentication of waysToAuthenticate(server, talk)) {
    const response = await oauth
      .refreshTokenGrantRequest(
        server,
        client,
        authentication,
        refreshToken.expose(),
        optionsOf(talk),
      )
      .catch((cause: unknown) => fail(cause, config, signal))
    const body = await readJson(response)
    if (response.status === 200) return readGrant(body, config)
    const error = explainRefusal(config, { status: response.status, body, refreshToken })
    refusal ??= error
    // Only this one leaves the refresh token untouched, so that another way may be tried.
    if (!(error instanceof OidcRefusedError && error.reason === 'invalid_client')) throw error
  }
  throw refusal ?? unknownAuthentication(config)
}

/** How to show the client secret: as the discovery offers, the header before the body. Without one, not at all. */
function waysToAuthenticate(server: AuthorizationServer, { oauth, config }: Talk): ClientAuth[] {
  if (config.clientSecret === undefined) return [oauth.None()]
  const secret = config.clientSecret.expose()
  const offered = server.token_endpoint_auth_methods_supported
  const ways: ClientAuth[] = []
  if (offered?.includes('client_secret_basic') ?? true) ways.push(oauth.ClientSecretBasic(secret))
  if (offered?.includes('client_secret_post') ?? true) ways.push(oauth.ClientSecretPost(secret))
  return ways
}

function unknownAuthentication(config: OidcConfig): Error {
  const what =
    'the issuer takes the client secret neither by client_secret_basic nor by client_secret_post'
  return configError(config, what, {
    hint: 'Use an exec plugin that can log in there, such as kubectl oidc-login.',
  })
}

/** What fits into a header. */
const PRINTABLE = /^[\x21-\x7e]+$/

/**
 * Takes the tokens out of an answer.
 *
 * Whom the id token is for is the API server's to judge: with Dex, its audience may be another client.
 */
function readGrant(body: unknown, { issuer }: OidcConfig): OidcGrant {
  const { id_token: id, refresh_token: next } = Object(body) as Record<string, unknown>
  if (typeof id !== 'string' || !PRINTABLE.test(id)) {
    throw new OidcRefusedError(issuer, 'answered the refresh without an id_token', {
      hint: 'Log in again with the scope openid; some issuers give an id_token only at the login.',
    })
  }
  const isRotated = typeof next === 'string' && next !== ''
  return { idToken: new Secret(id), ...(isRotated && { refreshToken: new Secret(next) }) }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

function fail(cause: unknown, config: OidcConfig, signal: AbortSignal): never {
  throw signal.aborted ? signal.reason : explainConnection(cause, config)
}

async function loadIssuerAuthority(config: OidcConfig): Promise<string | undefined> {
  const { certificateAuthority: authority } = config
  if (authority === undefined) return undefined
  if (authority.from === 'data') {
    return checkAuthority(authority.data, 'idp-certificate-authority-data')
  }
  const { path } = authority
  const pem = await nodeFiles.read(path).catch((cause: Error) => {
    throw new FileUnreadableError('idp-certificate-authority', path, cause.message, { cause })
  })
  return checkAuthority(pem, `idp-certificate-authority ${JSON.stringify(path)}`)
}
