import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { CredentialError } from '../../src/errors/index.ts'
import type { OidcConfig } from '../../src/kubeconfig/connection.ts'
import { nodeOidcIssuer } from '../../src/node/oidc-issuer.ts'
import { Secret } from '../../src/secret/secret.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import {
  CLIENT_SECRET,
  type Issuer,
  type IssuerOptions,
  startIssuer,
} from '../fixtures/oidc-issuer.ts'

const REFRESH_TOKEN = 'marked-refresh-token-K3n8Zp5w'
let open: Issuer[] = []
afterEach(async () => {
  await Promise.all(open.map((issuer) => issuer.close()))
  open = []
})

async function start(options: IssuerOptions = {}): Promise<Issuer> {
  const issuer = await startIssuer(options)
  open.push(issuer)
  return issuer
}

function configFor(issuer: string, more: Partial<OidcConfig> = {}): OidcConfig {
  const entry = { user: 'u', file: '/k' }
  return { issuer, clientId: 'kube', clientSecret: new Secret(CLIENT_SECRET), entry, ...more }
}

const NEVER = new AbortController().signal

function refresh(config: OidcConfig, token: string, { timeLimitMs = 10_000, signal = NEVER } = {}) {
  return nodeOidcIssuer({ timeLimitMs }).refresh(config, new Secret(token), signal)
}

async function failure(config: OidcConfig, options = {}): Promise<CredentialError> {
  const error = await refresh(config, REFRESH_TOKEN, options).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  expectNoLeak([error], [REFRESH_TOKEN, CLIENT_SECRET])
  return error as CredentialError
}

describe('a refresh', () => {
  it.each([
    { authentication: 'client_secret_basic', shows: 'header' },
    { authentication: 'client_secret_post', shows: 'body' },
    { authentication: 'none', shows: 'nothing' },
  ] as const)('logs in to a client with $authentication', async ({ authentication, shows }) => {
    const issuer = await start({ authentication })
    const { clientSecret, ...open } = configFor(issuer.url)
    const config = authentication === 'none' ? open : { ...open, clientSecret }
    const grant = await refresh(config as OidcConfig, await issuer.logIn())
    expect(issuer.accepts(grant.idToken?.expose() ?? '')).toBe(true)
    const { authorization, body } = issuer.seen.at(-1) ?? {}
    expect([authorization !== undefined, body?.includes('client_secret=')]).toEqual([
      shows === 'header',
      shows === 'body',
    ])
    expect(issuer.refreshes).toBe(1)
  })

  it('tries the body if the issuer offers both and rejects the header', async () => {
    const offers = ['client_secret_basic', 'client_secret_post']
    const issuer = await start({ authentication: 'client_secret_post', offers })
    issuer.respondWith(({ authorization }) =>
      authorization ? { status: 401, body: { error: 'invalid_client' } } : undefined,
    )
    const grant = await refresh(configFor(issuer.url), await issuer.logIn())
    expect(issuer.accepts(grant.idToken?.expose() ?? '')).toBe(true)
    expect(issuer.refreshes).toBe(2)
  })

  it('is not retried with another method if the refresh token was rejected', async () => {
    const offers = ['client_secret_basic', 'client_secret_post']
    const issuer = await start({ offers })
    await failure(configFor(issuer.url))
    expect(issuer.refreshes).toBe(1)
  })

  it('returns a rotated refresh token, and none if it was not rotated', async () => {
    const rotating = await start({ rotates: true })
    const first = await rotating.logIn()
    const grant = await refresh(configFor(rotating.url), first)
    expect(grant.refreshToken?.expose()).toMatch(/^[\w-]{20,}$/)
    expect(grant.refreshToken?.expose()).not.toBe(first)
    const steady = await start()
    steady.respondWith(({ path }) =>
      path === '/token' ? { status: 200, body: { id_token: steady.idToken(60_000) } } : undefined,
    )
    expect(await refresh(configFor(steady.url), 'r')).toEqual({ idToken: expect.any(Secret) })
  })

  it('trusts the configured CA', async () => {
    const issuer = await start({ tls: true })
    const data = issuer.caPem ?? ''
    const config = configFor(issuer.url, { certificateAuthority: { from: 'data', data } })
    const grant = await refresh(config, await issuer.logIn())
    expect(issuer.accepts(grant.idToken?.expose() ?? '')).toBe(true)
  })
})

describe('an issuer is reported if it', () => {
  it('rejects a used refresh token, with a hint to log in again', async () => {
    const issuer = await start()
    const error = await failure(configFor(issuer.url))
    expect(error).toMatchObject({ code: 'ERR_OIDC_REFUSED', reason: 'invalid_grant' })
    expect(error.retryable).toBe(false)
    expect(error.message).toMatch(/^the issuer http:\S+ rejected the refresh token: invalid_grant/)
    expect(error.hint).toContain('Log in again')
  })

  it('rejects the client', async () => {
    const issuer = await start()
    const error = await failure(configFor(issuer.url, { clientSecret: new Secret('another') }))
    expect(error).toMatchObject({ code: 'ERR_OIDC_REFUSED', reason: 'invalid_client' })
    expect(error.hint).toContain('client-secret')
  })

  it('is down', async () => {
    const issuer = await start()
    await issuer.close()
    const error = await failure(configFor(issuer.url))
    expect(error).toMatchObject({ code: 'ERR_OIDC_UNREACHABLE', retryable: true })
    expect(error.message).toContain('connection refused')
  })

  it.each([
    ['another CA is configured', true],
    ['no CA is configured', false],
  ])('has an untrusted certificate: %s', async (_, hasOther) => {
    const issuer = await start({ tls: true })
    const data = (await start({ tls: true })).caPem ?? ''
    const authority = hasOther ? { certificateAuthority: { from: 'data' as const, data } } : {}
    const error = await failure(configFor(issuer.url, authority))
    expect(error.code).toBe('ERR_OIDC_CONFIG')
    expect(error.message).toContain('certificate of the issuer was not accepted')
    expect(error.hint).toContain('idp-certificate-authority')
    expect(issuer.seen).toEqual([])
  })

  it.each([
    ['has another issuer URL', 200, { issuer: 'https://evil.example' }, 'evil.example'],
    ['is not an issuer', 404, 'not here', 'answered 404'],
    ['responds with HTML', 200, '<html>', 'not an OpenID Connect discovery'],
    ['responds with other JSON', 200, ['issuer'], 'not an OpenID Connect discovery'],
    ['has an http token_endpoint', 200, 'http://tokens.example/', 'no token_endpoint'],
    ['has no token_endpoint', 200, undefined, 'no token_endpoint'],
  ])('%s', async (_, status, body, says) => {
    const issuer = await start()
    const isEndpoint = body === undefined || String(body).startsWith('http:')
    issuer.respondWith(() => ({
      status,
      body: isEndpoint ? { issuer: issuer.url, token_endpoint: body } : body,
    }))
    const error = await failure(configFor(issuer.url))
    expect(error.code).toBe('ERR_OIDC_CONFIG')
    expect(error.message).toContain('user "u" in "/k"')
    expect(error.message).toContain(says)
    expect(issuer.refreshes).toBe(0)
  })

  it.each(['/.well-known/openid-configuration', '/token'])(
    'has a temporary error at %s, which is retryable',
    async (where) => {
      const issuer = await start()
      issuer.respondWith(({ path }) => (path === where ? { status: 503, body: '' } : undefined))
      expect(await failure(configFor(issuer.url))).toMatchObject({ code: 'ERR_OIDC_UNREACHABLE' })
    },
  )

  it.each([
    ['no id_token', { access_token: 'a', token_type: 'Bearer' }],
    ['an invalid id_token', { id_token: 7 }],
    ['an id_token with a line break', { id_token: 'a\nb' }],
    ['a string', 'text'],
  ])('responds with %s', async (_, body) => {
    const issuer = await start()
    issuer.respondWith(({ path }) => (path === '/token' ? { status: 200, body } : undefined))
    const error = await failure(configFor(issuer.url))
    expect(error.code).toBe('ERR_OIDC_REFUSED')
    expect(error.message).toContain('without an id_token')
    expect(error.hint).toContain('openid')
  })

  it('responds with a refresh token alone, which is not lost', async () => {
    const issuer = await start()
    const body = { refresh_token: 'next' }
    issuer.respondWith(({ path }) => (path === '/token' ? { status: 200, body } : undefined))
    const { idToken, refreshToken } = await refresh(configFor(issuer.url), REFRESH_TOKEN)
    expect([idToken, refreshToken?.expose()]).toEqual([undefined, 'next'])
  })

  it('echoes secrets, which are scrubbed', async () => {
    const issuer = await start()
    issuer.respondWith(({ path, body, authorization }) =>
      path === '/token'
        ? {
            status: 400,
            body: {
              error: 'invalid_grant',
              error_description: `\u001b[2J${body} ${authorization}`,
            },
          }
        : undefined,
    )
    const { message } = await failure(configFor(issuer.url))
    expect(message).not.toContain('\u001b')
  })

  it('redirects, and the redirect is not followed', async () => {
    const issuer = await start()
    issuer.respondWith(() => ({ status: 302, body: '' }))
    expect((await failure(configFor(issuer.url))).message).toContain('answered 302')
    expect(issuer.seen.length).toBe(1)
  })

  it('sends too large a response', async () => {
    const issuer = await start()
    issuer.respondWith(() => ({ status: 200, body: 'x'.repeat(2 * 1024 * 1024) }))
    expect((await failure(configFor(issuer.url))).message).toContain('more than 1 MiB')
  })

  it('never responds, until the time limit or an abort', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    const config = configFor(`http://127.0.0.1:${port}`)
    const error = await failure(config, { timeLimitMs: 100 })
    expect(error).toMatchObject({ code: 'ERR_OIDC_UNREACHABLE' })
    expect(error.message).toContain('longer than 0.1 s')
    const closing = new AbortController()
    const reason = new Error('closed')
    const ended = failure(config, { signal: closing.signal })
    closing.abort(reason)
    expect(await ended).toBe(reason)
    silent.close()
  })
})

describe('the CA of the issuer', () => {
  it.each([
    [{ from: 'data', data: 'no pem' }, 'ERR_CERTIFICATE_INVALID', 'idp-certificate-authority-data'],
    [{ from: 'file', path: '/not/there' }, 'ERR_FILE_UNREADABLE', '"/not/there"'],
  ] as const)(
    'is checked before anything is sent: %o',
    async (certificateAuthority, code, says) => {
      const error = await failure(configFor('https://i.example', { certificateAuthority }))
      expect(error.code).toBe(code)
      expect(error.message).toContain(says)
    },
  )
})
