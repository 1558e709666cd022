import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseYaml } from '../../src/formats/yaml.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import {
  CLIENT_SECRET,
  type Issuer,
  type IssuerOptions,
  startIssuer,
} from '../fixtures/oidc-issuer.ts'

let sandbox: Sandbox
let issuer: Issuer
let events: CredentialEvent[]
let clusters: Cluster[]
/** Id tokens that the API server does not take any more. */
let refused: Set<string>
/** All tokens that the API server saw. */
let shown: Set<string>

beforeEach(async () => {
  ;[events, clusters] = [[], []]
  refused = new Set()
  shown = new Set()
  // Only the wall clock is held: timers and sockets stay real.
  vi.useFakeTimers({ toFake: ['Date'] })
  sandbox = await startSandbox()
  sandbox.respondWith(({ headers }) => {
    const token = headers.authorization?.replace('Bearer ', '') ?? ''
    shown.add(token)
    const isGood = issuer.accepts(token) && !refused.has(token)
    return { status: isGood ? 200 : 401, body: {} }
  })
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(clusters.map((cluster) => cluster.close()))
  await Promise.all([sandbox.close(), issuer.close()])
})

const start = async (options: IssuerOptions = {}): Promise<void> => {
  issuer = await startIssuer(options)
}

/** Writes a kubeconfig by hand, with this in the config of its auth-provider. */
function writeConfig(tokens: Record<string, string>): string {
  const path = sandbox.writeKubeconfig()
  const config = parseYaml(readFileSync(path, 'utf8')) as { users: { user: unknown }[] }
  const settings = {
    'idp-issuer-url': issuer.url,
    'client-id': 'kube',
    'client-secret': CLIENT_SECRET,
    ...(issuer.caPem && {
      'idp-certificate-authority-data': Buffer.from(issuer.caPem).toString('base64'),
    }),
  }
  const [entry] = config.users
  if (entry === undefined) throw new Error('the sandbox wrote no user')
  entry.user = { 'auth-provider': { name: 'oidc', config: { ...settings, ...tokens } } }
  writeFileSync(path, JSON.stringify(config, null, 2))
  return path
}

async function open(
  kubeconfig: ConnectOptions['kubeconfig'],
  options: ConnectOptions = {},
): Promise<Cluster> {
  const observer = (event: CredentialEvent): void => void events.push(event)
  const cluster = await connect({ kubeconfig, observer, ...options })
  clusters.push(cluster)
  return cluster
}

async function statusOf(cluster: Cluster): Promise<number> {
  const response = await cluster.fetch('/version')
  await response.arrayBuffer()
  return response.status
}

/** Makes the API server refuse every token it saw; those issued within the same second are the same. */
function refuseAll(): void {
  refused = new Set(shown)
  vi.setSystemTime(Date.now() + 2000)
}

const warnings = (): string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))

const savedToken = (path: string, key: string): string | undefined =>
  new RegExp(`"${key}": "([^"]*)"`).exec(readFileSync(path, 'utf8'))?.[1]

describe('a kubeconfig with auth-provider oidc', () => {
  it('authenticates with its id token, without a request to the issuer', async () => {
    await start()
    const tokens = { 'id-token': issuer.idToken(600_000), 'refresh-token': await issuer.logIn() }
    const cluster = await open(writeConfig(tokens))
    expect(await statusOf(cluster)).toBe(200)
    expect(issuer.seen).toEqual([])
    expect(cluster.status().credential.source).toEqual({ kind: 'oidc', name: issuer.url })
  })

  it('is refreshed once for a hundred requests, over https with its own authority', async () => {
    await start({ tls: true })
    const cluster = await open(writeConfig({ 'refresh-token': await issuer.logIn() }))
    const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(cluster)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(issuer.refreshes).toBe(1)
    for (let count = 0; count < 5; count += 1) await statusOf(cluster)
    expect(issuer.refreshes).toBe(1)
  })

  it('is refreshed again when the token has expired, with the latest refresh token', async () => {
    await start({ rotates: true, idTokenSeconds: 600 })
    const cluster = await open(writeConfig({ 'refresh-token': await issuer.logIn() }))
    for (let round = 1; round <= 3; round += 1) {
      expect(await statusOf(cluster)).toBe(200)
      expect(issuer.refreshes).toBe(round)
      vi.setSystemTime(Date.now() + 600_000)
    }
    expect(warnings()).toEqual([expect.stringContaining('saveOidcTokens: true')])
  })

  it('recovers from a 401 to a token that has not expired', async () => {
    await start()
    const old = issuer.idToken(600_000)
    refused.add(old)
    const tokens = { 'id-token': old, 'refresh-token': await issuer.logIn() }
    const cluster = await open(writeConfig(tokens))
    const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(cluster)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(issuer.refreshes).toBe(1)
  })

  it('asks for a new login if the refresh token was revoked, and recovers after it', async () => {
    await start()
    const token = await issuer.logIn()
    await issuer.revoke(token)
    const path = writeConfig({ 'refresh-token': token })
    const cluster = await open(path)
    await expect(statusOf(cluster)).rejects.toMatchObject({
      code: 'ERR_OIDC_REFUSED',
      hint: expect.stringContaining('Log in again'),
      retryable: false,
    })
    writeFileSync(path, readFileSync(path, 'utf8').replace(token, await issuer.logIn()))
    vi.setSystemTime(Date.now() + 10_000)
    expect(await statusOf(cluster)).toBe(200)
  })

  it('fails with the reason while the issuer is down', async () => {
    await start()
    const cluster = await open(writeConfig({ 'refresh-token': await issuer.logIn() }))
    await issuer.close()
    await expect(statusOf(cluster)).rejects.toMatchObject({ code: 'ERR_OIDC_UNREACHABLE' })
  })
})

describe('connections of one process', () => {
  it('that started with the same refresh token share it, at once and later', async () => {
    await start({ rotates: true })
    const path = writeConfig({ 'refresh-token': await issuer.logIn() })
    const all = await Promise.all(Array.from({ length: 5 }, () => open(path)))
    expect(await Promise.all(all.map(statusOf))).toEqual([200, 200, 200, 200, 200])
    expect(issuer.refreshes).toBe(1)
    await Promise.all(all.map((cluster) => cluster.close()))
    // The file still has the token that is spent; using it again would end the login.
    refuseAll()
    expect(await statusOf(await open(path))).toBe(200)
    expect(issuer.refreshes).toBe(2)
  })

  it('share it even if one of them reads what another has saved', async () => {
    await start({ rotates: true })
    const path = writeConfig({ 'refresh-token': await issuer.logIn() })
    const first = await open(path, { saveOidcTokens: true })
    await statusOf(first)
    const second = await open(path)
    refuseAll()
    expect(await Promise.all([first, second].map(statusOf))).toEqual([200, 200])
    expect(issuer.refreshes).toBe(2)
  })

  it('of different logins share nothing', async () => {
    await start()
    const paths = [await issuer.logIn(), await issuer.logIn()].map((token) =>
      writeConfig({ 'refresh-token': token }),
    )
    for (const path of paths) expect(await statusOf(await open(path))).toBe(200)
    expect(issuer.refreshes).toBe(2)
  })
})

describe('the kubeconfig', () => {
  it('is not written by default', async () => {
    await start({ rotates: true })
    const path = writeConfig({ 'refresh-token': await issuer.logIn() })
    const before = readFileSync(path, 'utf8')
    await statusOf(await open(path))
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it('gets the new tokens with saveOidcTokens, so that another process can use them', async () => {
    await start({ rotates: true })
    const old = await issuer.logIn()
    const path = writeConfig({ 'refresh-token': old })
    expect(await statusOf(await open(path, { saveOidcTokens: true }))).toBe(200)
    expect(savedToken(path, 'refresh-token')).not.toBe(old)
    expect(shown).toEqual(new Set([savedToken(path, 'id-token')]))
    expect(warnings()).toEqual([])
  })

  it('gets tokens that have just arrived even if the connection is closed meanwhile', async () => {
    await start({ rotates: true })
    const path = writeConfig({ 'refresh-token': await issuer.logIn() })
    const cluster = await open(path, { saveOidcTokens: true })
    writeFileSync(`${path}.lock`, '')
    const request = statusOf(cluster).catch((error: unknown) => error)
    await vi.waitUntil(() => issuer.refreshes === 1)
    // The response is in flight: from here on only the lock is waited for.
    await new Promise((resolve) => setTimeout(resolve, 100))
    const closed = cluster.close()
    expect(await request).toMatchObject({ code: 'ERR_CLOSED' })
    rmSync(`${path}.lock`)
    await closed
    expect(savedToken(path, 'id-token')).toMatch(/^ey/)
  })

  it('that was passed as text cannot be written, which a warning says', async () => {
    await start({ rotates: true })
    const path = writeConfig({ 'refresh-token': await issuer.logIn() })
    const kubeconfig = { text: readFileSync(path, 'utf8') }
    expect(await statusOf(await open(kubeconfig, { saveOidcTokens: true }))).toBe(200)
    expect(warnings()).toEqual([
      expect.stringMatching(/user "\S+" in the given kubeconfig, which has no file to save it in/),
    ])
  })

  it('that cannot be written is a warning, and the request succeeds', async () => {
    await start({ rotates: true })
    const path = writeConfig({ 'refresh-token': await issuer.logIn() })
    const cluster = await open(path, { saveOidcTokens: true })
    // A user entry of another form, as long as the reader finds the same in it.
    const data = JSON.parse(readFileSync(path, 'utf8'))
    const { config } = data.users[0].user['auth-provider']
    const text = JSON.stringify(data).replace(JSON.stringify(config), '*c')
    writeFileSync(path, `anchor: &c ${JSON.stringify(config)}\n${asBlock(text)}`)
    expect(await statusOf(cluster)).toBe(200)
    expect(warnings()).toEqual([expect.stringMatching(/new tokens of user .* were not saved: /)])
  })
})

/** The members of a JSON object as lines of a YAML mapping. */
function asBlock(json: string): string {
  return Object.entries(JSON.parse(json.replace('*c', '"*c"')))
    .map(([key, value]) => `${key}: ${JSON.stringify(value).replace('"*c"', '*c')}\n`)
    .join('')
}

it('shows no token and no secret, whatever happens', async () => {
  await start({ rotates: true })
  const token = await issuer.logIn()
  const path = writeConfig({ 'id-token': issuer.idToken(-1), 'refresh-token': token })
  const cluster = await open(path)
  await statusOf(cluster)
  refuseAll()
  issuer.respondWith(({ path: where, body }) =>
    where === '/token'
      ? { status: 400, body: { error: 'invalid_grant', error_description: body } }
      : undefined,
  )
  await statusOf(cluster)
  vi.setSystemTime(Date.now() + 86_400_000)
  const error = await statusOf(cluster).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'ERR_OIDC_REFUSED' })
  const spoken = [...issuer.seen.map(({ body }) => new URLSearchParams(body).get('refresh_token'))]
  const secrets = [token, CLIENT_SECRET, ...shown, ...spoken].filter((one) => one !== null)
  const printed = [events, cluster, cluster.status(), error, inspect(cluster, { depth: 20 })]
  expectNoLeak(printed, secrets.map(withoutHeader))
})

/** The first part of a JWT is the same for all and no secret. */
function withoutHeader(token: string): string {
  return token.split('.').slice(-1).join('')
}
