// After kopf's tests/authentication/test_credentials.py: what a login says, as the server sees it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Sandbox, SERVER_NAME, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect } from 'kubecred'
import { type ConnectionFields, Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { proxyUrl, startConnectProxy } from '../../fixtures/proxies.ts'

let sandbox: Sandbox
let seen: Readonly<Record<string, string | string[] | undefined>>[]

beforeEach(async () => {
  sandbox = await startSandbox({ basic: { jane: 'secret' } })
  seen = []
  sandbox.respondWith(({ headers }) => {
    seen.push(headers)
    return undefined
  })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await sandbox.close()
})

/** Connects with a login of these fields. */
function logIn(fields: Partial<ConnectionFields>, options: ConnectOptions = {}) {
  const vault = new Vault({ freezeLimitMs: 10_000 })
  const info = { server: sandbox.url, ...fields }
  if (fields.caPath === undefined && !fields.insecure)
    Object.assign(info, { caData: sandbox.caPem })
  vault.onLogin(() => ({ ...info, ...fields }), { id: 'one' })
  return connect({ vault, env: {}, ...options })
}

/** Sends a request; resolves to its status and the header that the server got. */
async function send(fields: Partial<ConnectionFields>) {
  await using cluster = await logIn(fields)
  const { status } = await cluster.fetch('/api/v1/namespaces')
  return [status, seen.at(-1)?.['authorization']]
}

describe('the Authorization header', () => {
  it('is Basic with a username and a password', async () => {
    const encoded = Buffer.from('jane:secret').toString('base64')
    expect(await send({ username: 'jane', password: 'secret' })).toEqual([200, `Basic ${encoded}`])
  })

  it('is Bearer with only a token', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await send({ token })).toEqual([200, `Bearer ${token}`])
  })

  it('is the scheme with only a scheme', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await send({ scheme: `Bearer ${token}` })).toEqual([200, `Bearer ${token}`])
  })

  it('is scheme and token with both', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await send({ scheme: 'bearer', token })).toEqual([200, `bearer ${token}`])
  })

  it('is that of the token with a token and a username, and the request is sent', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const sent = await send({ token, username: 'jane', password: 'wrong' })
    expect(sent).toEqual([200, `Bearer ${token}`])
  })

  it('is absent without a credential', async () => {
    expect(await send({})).toEqual([403, undefined])
  })
})

describe('the server’s certificate', () => {
  it('is not verified with insecure, and only then', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await send({ token, insecure: true })).toEqual([200, `Bearer ${token}`])
    await using other = await startSandbox()
    await using cluster = await logIn({ token, caData: other.caPem })
    await expect(cluster.fetch('/version')).rejects.toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    expect(seen).toHaveLength(1)
  })

  it('is verified against tlsServerName', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await send({ token, tlsServerName: SERVER_NAME })).toEqual([200, `Bearer ${token}`])
    await using cluster = await logIn({ token, tlsServerName: 'elsewhere.test' })
    await expect(cluster.fetch('/version')).rejects.toMatchObject({ code: 'ERR_LOGIN_FAILED' })
  })
})

describe('certificates and key', () => {
  const user = () => sandbox.requests.at(-1)?.certificateUser

  it.each(['absolute', 'relative', 'home'] as const)('may be files: %s paths', async (kind) => {
    const { certificate, key } = await sandbox.issueCertificate({ user: kind })
    const folder = join(sandbox.folder, 'home')
    mkdirSync(folder, { recursive: true })
    const written = { 'ca.crt': sandbox.caPem, 'one.crt': certificate, 'one.key': key }
    for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text)
    vi.stubEnv('HOME', folder)
    vi.stubEnv('USERPROFILE', folder)
    const path = (name: string): string =>
      ({
        absolute: join(folder, name),
        relative: relative(process.cwd(), join(folder, name)),
        home: `~/${name}`,
      })[kind]
    const paths = {
      caPath: path('ca.crt'),
      certificatePath: path('one.crt'),
      privateKeyPath: path('one.key'),
    }
    expect(await send(paths)).toEqual([200, undefined])
    expect(user()).toBe(kind)
  })

  const forms: Readonly<Record<string, (pem: string) => string | Uint8Array>> = {
    'PEM text': (pem) => pem,
    'PEM bytes': (pem) => Buffer.from(pem),
    'base64 text': (pem) => Buffer.from(pem).toString('base64'),
    'base64 bytes': (pem) => Buffer.from(Buffer.from(pem).toString('base64')),
  }

  it.each(Object.keys(forms))(
    'may be data: a CA as %s, with every form of the others',
    async (ca) => {
      const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
      for (const certificateForm of Object.values(forms)) {
        for (const keyForm of Object.values(forms)) {
          const data = {
            caData: forms[ca]?.(sandbox.caPem),
            certificateData: certificateForm(certificate),
            privateKeyData: keyForm(key),
          }
          expect(await send(data)).toEqual([200, undefined])
          expect(user()).toBe('jane')
        }
      }
      expect(sandbox.requests).toHaveLength(16)
    },
  )
})

describe('the User-Agent', () => {
  it('is kubecred with its version', async () => {
    await send({})
    expect(seen.at(-1)?.['user-agent']).toMatch(/^kubecred\/\d+\.\d+\.\d+/)
  })

  it('is the caller’s if they set one', async () => {
    await using cluster = await logIn({})
    await cluster.fetch('/version', { headers: { 'user-agent': 'mine/1' } })
    expect(seen.at(-1)?.['user-agent']).toBe('mine/1')
  })
})

describe('a proxy', () => {
  const port = () => Number(new URL(sandbox.url).port)
  /** A name that only the proxy knows. */
  const server = () => `https://${SERVER_NAME}:${port()}`

  /** Sends a request where only the environment names the proxy; resolves to how often that was asked. */
  async function askedWith(fields: Partial<ConnectionFields>): Promise<[unknown, number]> {
    await using proxy = await startConnectProxy({ to: port() })
    const env = { HTTPS_PROXY: proxyUrl('http', proxy.port) }
    const { token } = sandbox.issueToken({ user: 'jane' })
    await using cluster = await logIn({ server: server(), token, ...fields }, { env })
    const sent = cluster.fetch('/version').then(
      ({ status }) => status,
      ({ code }) => code,
    )
    return [await sent, proxy.asked.length]
  }

  it('is taken from the environment with trustEnv', async () => {
    expect(await askedWith({ trustEnv: true })).toEqual([200, 1])
  })

  it('is not taken from the environment without trustEnv', async () => {
    expect(await askedWith({})).toEqual(['ERR_SERVER_UNREACHABLE', 0])
  })

  it('is that of proxyUrl, and a POST goes through it', async () => {
    await using proxy = await startConnectProxy({ to: port(), login: 'user:hidden' })
    const { token } = sandbox.issueToken({ user: 'jane' })
    const proxyUrl = `http://user:hidden@127.0.0.1:${proxy.port}`
    await using cluster = await logIn({ server: server(), token, proxyUrl })
    const { status } = await cluster.fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'one' } }),
    })
    expect(status).toBe(201)
    expect(proxy.asked).toEqual([`CONNECT ${SERVER_NAME}:${port()}`])
  })
})
