import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { CredentialError } from '../../src/errors/index.ts'
import type { OidcConfig } from '../../src/kubeconfig/connection.ts'
import { nodeOidcIssuer } from '../../src/node/oidc-issuer.ts'
import { Secret } from '../../src/secret/secret.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'

const REFRESH_TOKEN = 'marked-refresh-token-7Hq2Lw9x'
const CLIENT_SECRET = 'marked-client-secret-4Tz8Vb3m'
const DISCOVERY = '/.well-known/openid-configuration'
const ID_TOKEN = 'e30.eyJleHAiOjQxMDI0NDQ4MDB9.c2ln'

let servers: Server[] = []
afterEach(async () => {
  const closing = servers.map((server) => new Promise((resolve) => server.close(resolve)))
  servers = []
  await Promise.all(closing)
})

/** An issuer that a test writes byte by byte. */
interface Liar {
  readonly url: string
  /** The paths of all requests, in order. */
  readonly asked: string[]
}

/** Starts a server that answers every request with these bytes, and closes the connection. */
async function startLiar(answer: (path: string, url: string) => string): Promise<Liar> {
  const asked: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head: Buffer) => {
      const path = / (\S+) /.exec(head.toString('latin1'))?.[1] ?? ''
      asked.push(path)
      socket.end(answer(path, url))
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, asked }
}

function json(body: unknown, status = '200 OK'): string {
  const text = JSON.stringify(body)
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nconnection: close\r\n`
  return `${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** An honest discovery, with some fields replaced. */
const discovery = (url: string, more: object = {}): string =>
  json({ issuer: url, token_endpoint: `${url}/token`, ...more })

function refresh({ url: issuer }: Liar) {
  const config: OidcConfig = {
    issuer,
    clientId: 'kube',
    clientSecret: new Secret(CLIENT_SECRET),
    entry: { user: 'u', file: '/k' },
  }
  const { signal } = new AbortController()
  return nodeOidcIssuer({ timeLimitMs: 5000 }).refresh(config, new Secret(REFRESH_TOKEN), signal)
}

async function failure(liar: Liar): Promise<CredentialError> {
  const error = await refresh(liar).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expectNoLeak([error], [REFRESH_TOKEN, CLIENT_SECRET])
  return error as CredentialError
}

const RESPONSES: readonly (readonly [string, string])[] = [
  ['a status beyond 599', 'HTTP/1.1 999 Denied\r\ncontent-length: 0\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 042 Odd\r\ncontent-length: 0\r\n\r\n'],
  ['an upgrade', 'HTTP/1.1 101 Switch\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n'],
  ['101 without an upgrade', 'HTTP/1.1 101 Switch\r\n\r\n'],
  ['only interim responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['nothing', ''],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'x-a: y\r\n'.repeat(20_000)}`],
  ['a body that breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"issuer"'],
  ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 9\r\n\r\n{}'],
  ['a length and chunks', json({}).replace('connection:', 'transfer-encoding: chunked\r\nx:')],
  ['bytes that are not UTF-8', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\u00ff\u00fe'],
  ['no content', 'HTTP/1.1 204 None\r\n\r\n'],
  ['a redirect', 'HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'],
]

describe.each([
  ['discovery', DISCOVERY],
  ['the refresh', '/token'],
])('an issuer that answers %s', (_, where) => {
  it.each(RESPONSES)('with %s is reported with a code of its own', async (_name, response) => {
    const liar = await startLiar((path, url) => (path === where ? response : discovery(url)))
    const { code, message, hint } = await failure(liar)
    expect(code).toMatch(/^ERR_OIDC_(?:UNREACHABLE|CONFIG|REFUSED)$/)
    expect(message).not.toContain('longer than')
    expect(hint).toMatch(/^[A-Z].*\.$/)
    expect(liar.asked.at(-1)).toBe(where)
  })
})

it('an issuer that answers with an invalid status is reported as such', async () => {
  const liar = await startLiar(() => 'HTTP/1.1 999 Denied\r\ncontent-length: 0\r\n\r\n')
  expect((await failure(liar)).message).toContain('it answered with an invalid status')
})

describe('an issuer whose discovery', () => {
  it.each([
    ['a list', (url: string) => [`${url}/token`]],
    ['a number', () => 5],
    ['an object', () => ({})],
    ['null', () => null],
    ['a script', () => 'javascript:alert(1)'],
    ['a file', () => 'file:///etc/passwd'],
    ['a relative path', () => '/token'],
    ['another host behind our own', () => 'http://127.0.0.1@tokens.example/'],
    ['a host that begins like our own', () => 'http://localhost.tokens.example/'],
    ['http elsewhere', () => 'http://192.0.2.1/token'],
  ])('has %s as token_endpoint gets no refresh token', async (_, endpoint) => {
    const liar = await startLiar((path, url) =>
      path === DISCOVERY ? discovery(url, { token_endpoint: endpoint(url) }) : json({}),
    )
    expect((await failure(liar)).code).toBe('ERR_OIDC_CONFIG')
    expect(liar.asked).toEqual([DISCOVERY])
  })

  it.each([REFRESH_TOKEN, CLIENT_SECRET])(
    'has our secret %s as its name cannot make us show it',
    async (secret) => {
      const liar = await startLiar((_, url) => discovery(url, { issuer: `https://${secret}/` }))
      expect((await failure(liar)).message).toContain('the issuer calls itself')
    },
  )

  it.each([[5], [{}], ['client_secret_basic'], [null], [true]])(
    'has %j as its authentication methods is asked with the usual ones',
    async (methods) => {
      const liar = await startLiar((path, url) =>
        path === DISCOVERY
          ? discovery(url, { token_endpoint_auth_methods_supported: methods })
          : json({ id_token: ID_TOKEN }),
      )
      expect((await refresh(liar)).idToken?.expose()).toBe(ID_TOKEN)
    },
  )

  it.each([[[]], [[5]], [['private_key_jwt']]])(
    'offers only the authentication methods %j gets no refresh token',
    async (methods) => {
      const liar = await startLiar((_, url) =>
        discovery(url, { token_endpoint_auth_methods_supported: methods }),
      )
      expect((await failure(liar)).code).toBe('ERR_OIDC_CONFIG')
      expect(liar.asked).toEqual([DISCOVERY])
    },
  )
})

describe('an issuer that refuses', () => {
  const refusing = (body: unknown): Promise<Liar> =>
    startLiar((path, url) => (path === DISCOVERY ? discovery(url) : json(body, '400 Bad Request')))

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])(
    'with the error %s gets a message and a hint all the same',
    async (error) => {
      const { message, hint } = await failure(await refusing({ error }))
      expect(message).toContain(`refused the refresh: ${error}`)
      expect(hint).toBe('Log in again, so that the kubeconfig gets a new refresh token.')
    },
  )

  it.each([
    ['a list', ['invalid_grant']],
    ['null', null],
    ['text', 'invalid_grant'],
    ['an error that is not text', { error: { error: 1 }, error_description: [1] }],
    ['members of a prototype', JSON.parse('{"__proto__":{"error":"invalid_grant"}}')],
  ])('with %s is reported by its status', async (_, body) => {
    expect((await failure(await refusing(body))).message).toContain('status 400')
  })

  it('cannot fill the screen, move the cursor, or begin a line', async () => {
    const text = `\u001b[2J\r\n\u202e${'x'.repeat(100_000)}`
    const { message } = await failure(await refusing({ error: text, error_description: text }))
    expect(message.length).toBeLessThan(1000)
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})
