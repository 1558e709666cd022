import http from 'node:http'
import https from 'node:https'
import type { AuthorizationServer, ClientAuth } from 'oauth4webapi'
import {
  type CredentialError,
  FileUnreadableError,
  isCredentialError,
  OidcConfigError,
  OidcRefusedError,
  OidcUnreachableError,
} from '../errors/index.ts'
import { UNREACHABLE_REASONS, UNTRUSTED_REASONS } from '../errors/transport-errors.ts'
import { isSecureUrl } from '../kubeconfig/auth-provider.ts'
import type { OidcConfig } from '../kubeconfig/connection.ts'
import { describeEntry } from '../kubeconfig/problem.ts'
import type { OidcGrant, OidcIssuer } from '../ports/oidc.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import { checkAuthority } from './certificate-authority.ts'
import { nodeFiles } from './node-files.ts'

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
  if (endpoint === undefined || !URL.canParse(endpoint) || !isSecureUrl(new URL(endpoint))) {
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

/** What oauth4webapi hands to a fetch of ours. */
interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

type OidcFetch = (url: string, init: FetchInit) => Promise<Response>

/** Far more than a discovery document or an answer with tokens has. */
const MOST_BYTES = 1024 * 1024

/** Statuses that the class `Response` takes only without a body. */
const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * A fetch for talking to an issuer: with authorities of its own, answers of limited size, no redirects.
 *
 * The global one cannot be told whom to trust, and answers without a limit.
 *
 * @param ca PEM; the system's authorities when undefined.
 */
export function oidcFetch(ca: string | undefined): OidcFetch {
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { request: open } = url.startsWith('https:') ? https : http
      const request = open(url, {
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        // One connection for each: nothing is kept that could outlive the refresh.
        agent: false,
        ...(ca !== undefined && { ca }),
        ...(signal && { signal }),
      })
      request.once('error', reject)
      request.once('response', (response) => {
        readAll(response).then((content) => resolve(toResponse(response, content)), reject)
      })
      request.end(body === undefined ? undefined : String(body))
    })
}

async function readAll(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) {
      response.destroy()
      throw Object.assign(new Error('answer too large'), { code: 'EFBIG' })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toResponse({ statusCode = 0, headers }: http.IncomingMessage, content: Buffer): Response {
  return new Response(WITHOUT_BODY.has(statusCode) ? null : new Uint8Array(content), {
    status: statusCode,
    headers: { 'content-type': headers['content-type'] ?? '' },
  })
}

const TOO_LARGE = { EFBIG: 'it sent more than 1 MiB' }

/** The error for a connection to the issuer that was not made, or broke. */
export function explainConnection(cause: unknown, config: OidcConfig): CredentialError {
  if (isCredentialError(cause)) return cause
  const { code = '' } = Object(cause) as { code?: string }
  const untrusted = UNTRUSTED_REASONS[code]
  if (untrusted !== undefined) {
    return configError(config, `the certificate of the issuer was not accepted: ${untrusted}`, {
      hint: 'Set idp-certificate-authority to the CA of the issuer, or correct it.',
      cause,
    })
  }
  const reason =
    { ...UNREACHABLE_REASONS, ...TOO_LARGE }[code] ??
    `the connection failed (${code || 'no reason given'})`
  return new OidcUnreachableError(config.issuer, reason, { cause })
}

/** The error for something in the entry, or in the issuer it names, that trying again cannot change. */
export function configError(
  { entry, issuer }: OidcConfig,
  what: string,
  init: { readonly hint: string; readonly cause?: unknown },
): OidcConfigError {
  const who = describeEntry('user', { name: entry.user, file: entry.file })
  return new OidcConfigError(`${who} logs in at ${issuer}: ${what}`, init)
}

/** Whether the issuer has a problem of its own that will pass. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408
}

const HINTS: Readonly<Record<string, string>> = {
  invalid_client: 'Check client-id and client-secret in the kubeconfig.',
  unauthorized_client: 'Check client-id in the kubeconfig: the issuer does not let it refresh.',
}

/** The error for a refresh that the issuer answered with a status other than 200. */
export function explainRefusal(
  { issuer, clientSecret }: OidcConfig,
  { status, body, refreshToken }: { status: number; body: unknown; refreshToken: Secret },
): CredentialError {
  const { error, error_description: description } = Object(body) as Record<string, unknown>
  const known = clientSecret === undefined ? [refreshToken] : [refreshToken, clientSecret]
  const reason = typeof error === 'string' ? showText(error, known) : undefined
  const more = typeof description === 'string' ? ` (${showText(description, known)})` : ''
  if (isPassing(status) || reason === 'temporarily_unavailable' || reason === 'slow_down') {
    return new OidcUnreachableError(issuer, `it answered ${status}${more}`)
  }
  const said = reason ?? `status ${status}`
  const what = said === 'invalid_grant' ? 'rejected the refresh token' : 'refused the refresh'
  return new OidcRefusedError(issuer, `${what}: ${said}${more}`, {
    hint: HINTS[said] ?? 'Log in again, so that the kubeconfig gets a new refresh token.',
    ...(reason !== undefined && { reason }),
  })
}

const LONGEST_SHOWN = 300

/** Text from the network, for people: without what we sent, on one line, not endless. */
export function showText(text: string, known: readonly Secret[]): string {
  const line = scrub(text, known).replace(/\s+/g, ' ').trim()
  return showControlCharacters(line.slice(0, LONGEST_SHOWN))
}

/**
 * Runs `work` with a signal that aborts after a time, or with another signal.
 *
 * `AbortSignal.any` would do, but on Node 20 one made of timeouts can be collected before it rings.
 *
 * @throws A `TimeoutError` when the time passed.
 */
export async function withTimeLimit<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const follow = (): void => controller.abort(signal.reason)
  const ring = (): void => controller.abort(new DOMException('time is up', 'TimeoutError'))
  const timer = setTimeout(ring, milliseconds)
  signal.addEventListener('abort', follow, { once: true })
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', follow)
  }
}
