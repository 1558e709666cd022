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
import { missingIdToken } from '../sources/oidc-source.ts'
import { checkAuthority } from './certificate-authority.ts'
import { nodeFiles } from './node-files.ts'

/** Limit for discovery and refresh together. */
const TIME_LIMIT_MS = 30_000

/** Loaded on demand: most programs never refresh an OIDC token. */
type OAuth = typeof import('oauth4webapi')

/** Returns the OIDC port: discovery, then the refresh token grant. */
export function nodeOidcIssuer({ timeLimitMs = TIME_LIMIT_MS } = {}): OidcIssuer {
  return {
    async refresh(config, refreshToken, signal) {
      const ca = await loadIssuerAuthority(config)
      const oauth = await import('oauth4webapi')
      return withTimeLimit(timeLimitMs, signal, async (limited) => {
        const session: IssuerSession = { oauth, config, ca, refreshToken, signal: limited }
        const server = await discover(session)
        return refreshAt(server, session)
      }).catch((error: unknown) => {
        if (signal.aborted) throw signal.reason
        if (!(error instanceof Error && error.name === 'TimeoutError')) throw error
        const seconds = Math.round(timeLimitMs / 100) / 10
        throw new OidcUnreachableError(config.issuer, `it took longer than ${seconds} s`)
      })
    },
  }
}

/** What all requests of one refresh share. */
interface IssuerSession {
  readonly oauth: OAuth
  readonly config: OidcConfig
  readonly ca: string | undefined
  readonly refreshToken: Secret
  readonly signal: AbortSignal
}

function optionsOf({ oauth, config, ca, signal }: IssuerSession) {
  return {
    signal,
    [oauth.customFetch]: oidcFetch(ca),
    // The configuration is validated: http is only possible for localhost.
    [oauth.allowInsecureRequests]: config.issuer.startsWith('http:'),
  }
}

async function discover(session: IssuerSession): Promise<AuthorizationServer> {
  const { oauth, config, signal } = session
  const issuer = new URL(config.issuer)
  const response = await oauth
    .discoveryRequest(issuer, optionsOf(session))
    .catch((cause: unknown) => throwConnectionError(cause, config, signal))
  if (isTemporary(response.status)) {
    throw new OidcUnreachableError(config.issuer, `its discovery answered ${response.status}`)
  }
  const body = await readJson(response.clone())
  // Errors of the library contain the whole response, so they are not used as a cause.
  const server = await oauth.processDiscoveryResponse(issuer, response).catch(() => undefined)
  if (server === undefined) {
    throw configError(config, describeDiscovery(response.status, body, session), {
      hint: 'Set idp-issuer-url to exactly the issuer of its /.well-known/openid-configuration.',
    })
  }
  const { token_endpoint: endpoint } = server
  // Of any type: the library checks only the issuer.
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint) || !isSecureUrl(new URL(endpoint))) {
    throw configError(config, 'its discovery has no token_endpoint with https', {
      hint: 'Ask the administrator of the issuer to correct token_endpoint.',
    })
  }
  return server
}

function describeDiscovery(status: number, body: unknown, session: IssuerSession): string {
  if (status !== 200)
    return `its discovery answered ${status}, so it is not an OpenID Connect issuer`
  const { issuer } = Object(body) as { issuer?: unknown }
  const { config, refreshToken } = session
  const isOther = typeof issuer === 'string' && issuer !== new URL(config.issuer).href
  return isOther
    ? `the issuer calls itself ${JSON.stringify(showText(issuer, sentSecrets(config, refreshToken)))}`
    : 'its discovery is not an OpenID Connect discovery document'
}

async function refreshAt(server: AuthorizationServer, session: IssuerSession): Promise<OidcGrant> {
  const { oauth, config, refreshToken, signal } = session
  const client = { client_id: config.clientId }
  let refusal: Error | undefined
  for (const authentication of clientAuthentications(server, session)) {
    const response = await oauth
      .refreshTokenGrantRequest(
        server,
        client,
        authentication,
        refreshToken.expose(),
        optionsOf(session),
      )
      .catch((cause: unknown) => throwConnectionError(cause, config, signal))
    const body = await readJson(response)
    if (response.status === 200) return readGrant(body, config)
    const error = explainRefusal(config, { status: response.status, body, refreshToken })
    refusal ??= error
    // Only invalid_client leaves the refresh token unused, so that another method can be tried.
    if (!(error instanceof OidcRefusedError && error.reason === 'invalid_client')) throw error
  }
  throw refusal ?? unsupportedAuthentication(config)
}

/** Returns the client authentications to try: those of the discovery, the header first. Without a secret, `none`. */
function clientAuthentications(
  server: AuthorizationServer,
  { oauth, config }: IssuerSession,
): ClientAuth[] {
  if (config.clientSecret === undefined) return [oauth.None()]
  const secret = config.clientSecret.expose()
  const { token_endpoint_auth_methods_supported: offered } = server
  // Of any type, as the rest of the discovery.
  const mayUse = (method: string): boolean => !Array.isArray(offered) || offered.includes(method)
  const methods: ClientAuth[] = []
  if (mayUse('client_secret_basic')) methods.push(oauth.ClientSecretBasic(secret))
  if (mayUse('client_secret_post')) methods.push(oauth.ClientSecretPost(secret))
  return methods
}

function unsupportedAuthentication(config: OidcConfig): Error {
  const what = 'the issuer supports neither client_secret_basic nor client_secret_post'
  return configError(config, what, {
    hint: 'Use an exec plugin that supports this issuer, such as kubectl oidc-login.',
  })
}

/** Characters that are allowed in a token in a header. */
const PRINTABLE = /^[\x21-\x7e]+$/

/**
 * Reads the tokens of a token response.
 *
 * The audience of the id token is not checked, which is the task of the API server: with Dex, it may be another client.
 */
function readGrant(body: unknown, { issuer }: OidcConfig): OidcGrant {
  const { id_token: id, refresh_token: next } = Object(body) as Record<string, unknown>
  const hasIdToken = typeof id === 'string' && PRINTABLE.test(id)
  const isRotated = typeof next === 'string' && next !== ''
  if (!hasIdToken && !isRotated) throw missingIdToken(issuer)
  return {
    ...(hasIdToken && { idToken: new Secret(id) }),
    ...(isRotated && { refreshToken: new Secret(next) }),
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

function throwConnectionError(cause: unknown, config: OidcConfig, signal: AbortSignal): never {
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

/** The options that oauth4webapi passes to a custom fetch. */
interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

type OidcFetch = (url: string, init: FetchInit) => Promise<Response>

/** Far more than a discovery document or a token response needs. */
const MAX_BYTES = 1024 * 1024

/** Statuses for which `Response` does not allow a body. */
const WITHOUT_BODY = new Set([204, 205, 304])

/**
 * Returns a fetch for an issuer: with its own CA, a limit for responses, and no redirects.
 *
 * The global fetch supports neither a CA nor a limit.
 *
 * @param ca PEM; the system's CAs if undefined.
 */
export function oidcFetch(ca: string | undefined): OidcFetch {
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { request: open } = url.startsWith('https:') ? https : http
      const request = open(url, {
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        // No keep-alive: no connection may outlive the refresh.
        agent: false,
        ...(ca !== undefined && { ca }),
        ...(signal && { signal }),
      })
      let isAnswered = false
      request.on('error', reject)
      request.once('response', (response) => {
        isAnswered = true
        readAll(response)
          .then((content) => toResponse(response, content))
          .then(resolve, reject)
      })
      // After a 101 that it did not ask for, Node closes the connection and reports neither response nor error.
      request.once('close', () => {
        if (!isAnswered) reject(withCode('ECONNRESET', 'closed without a response'))
      })
      request.end(body === undefined ? undefined : String(body))
    })
}

async function readAll(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) {
      response.destroy()
      throw withCode('EFBIG', 'response too large')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toResponse({ statusCode = 0, headers }: http.IncomingMessage, content: Buffer): Response {
  // `Response` allows no other status.
  if (statusCode < 200 || statusCode > 599) throw withCode('EBADMSG', 'invalid status')
  return new Response(WITHOUT_BODY.has(statusCode) ? null : new Uint8Array(content), {
    status: statusCode,
    headers: { 'content-type': headers['content-type'] ?? '' },
  })
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

const BAD_RESPONSES: Readonly<Record<string, string>> = {
  EFBIG: 'it sent more than 1 MiB',
  EBADMSG: 'it answered with an invalid status',
}

/** Returns the error for a failed connection to the issuer. */
export function explainConnection(cause: unknown, config: OidcConfig): CredentialError {
  if (isCredentialError(cause)) return cause
  const { code = '' } = Object(cause) as { code?: string }
  const untrusted = UNTRUSTED_REASONS[code]
  if (untrusted !== undefined) {
    return configError(config, `the certificate of the issuer was not accepted: ${untrusted}`, {
      hint: 'Set idp-certificate-authority to the CA of the issuer.',
      cause,
    })
  }
  const reason =
    { ...UNREACHABLE_REASONS, ...BAD_RESPONSES }[code] ??
    `the connection failed (${code || 'no reason given'})`
  return new OidcUnreachableError(config.issuer, reason, { cause })
}

/** Returns the error for a problem of the user entry or the issuer that a retry cannot solve. */
export function configError(
  { entry, issuer }: OidcConfig,
  what: string,
  init: { readonly hint: string; readonly cause?: unknown },
): OidcConfigError {
  const who = describeEntry('user', { ...entry, name: entry.user })
  return new OidcConfigError(`${who} logs in at ${issuer}: ${what}`, init)
}

/** Whether the status means a temporary problem of the issuer. */
export function isTemporary(status: number): boolean {
  return status >= 500 || status === 429 || status === 408
}

/** A map, because the issuer chooses the key: it could be `constructor`. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['invalid_client', 'Check client-id and client-secret in the kubeconfig.'],
  [
    'unauthorized_client',
    'Check client-id in the kubeconfig: the issuer does not allow it to refresh.',
  ],
])

/** Returns the error for a refresh that the issuer answered with a status other than 200. */
export function explainRefusal(
  config: OidcConfig,
  { status, body, refreshToken }: { status: number; body: unknown; refreshToken: Secret },
): CredentialError {
  const { issuer } = config
  const { error, error_description: description } = Object(body) as Record<string, unknown>
  const known = sentSecrets(config, refreshToken)
  const reason = typeof error === 'string' ? showText(error, known) : undefined
  const more = typeof description === 'string' ? ` (${showText(description, known)})` : ''
  if (isTemporary(status) || reason === 'temporarily_unavailable' || reason === 'slow_down') {
    return new OidcUnreachableError(issuer, `it answered ${status}${more}`)
  }
  const problem = reason ?? `status ${status}`
  const what = problem === 'invalid_grant' ? 'rejected the refresh token' : 'refused the refresh'
  return new OidcRefusedError(issuer, `${what}: ${problem}${more}`, {
    hint: HINTS.get(problem) ?? 'Log in again, so that the kubeconfig gets a new refresh token.',
    ...(reason !== undefined && { reason }),
  })
}

/** What the issuer may repeat: it has received both in this refresh or in an earlier one. */
function sentSecrets({ clientSecret }: OidcConfig, refreshToken: Secret): readonly Secret[] {
  return clientSecret === undefined ? [refreshToken] : [refreshToken, clientSecret]
}

const MAX_SHOWN_LENGTH = 300

/** Prepares text from the network for messages: without the secrets that were sent, on one line, of limited length. */
export function showText(text: string, known: readonly Secret[]): string {
  const line = scrub(text, known).replace(/\s+/g, ' ').trim()
  return showControlCharacters(line.slice(0, MAX_SHOWN_LENGTH))
}

/**
 * Runs `work` with a signal that aborts after a timeout, or together with `signal`.
 *
 * Not `AbortSignal.any`: on Node 20, a combined timeout signal can be garbage-collected before it fires.
 *
 * @throws {DOMException} `TimeoutError`, after the timeout.
 */
export async function withTimeLimit<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const follow = (): void => controller.abort(signal.reason)
  const timeOut = (): void =>
    controller.abort(new DOMException('the operation timed out', 'TimeoutError'))
  const timer = setTimeout(timeOut, milliseconds)
  signal.addEventListener('abort', follow, { once: true })
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', follow)
  }
}
