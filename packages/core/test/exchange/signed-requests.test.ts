import { startSandbox } from '@kubecred/sandbox'
import { afterEach, describe, expect, it } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { ConnectOptions } from '../../src/connect/connect-options.ts'
import { Vault } from '../../src/vault/index.ts'
import { Opened, startApi } from '../dial/signed-server.ts'
import { proxyUrl, startConnectProxy, startSocksProxy } from '../fixtures/proxies.ts'
import type { Identity } from '../tls/identities.ts'
import { type Misbehaviour, softwareKey } from '../tls/software-key.ts'
import { authority, failure, jane } from '../tls/tls-server.ts'

const TRANSPORTS: ConnectOptions['transport'][] = [undefined, 'pool', 'https', 'http2']

const clusters: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(clusters.splice(0).map((cluster) => cluster.close()))
})

interface At {
  readonly url: string
  readonly caPem?: string
  readonly serverName?: string
  readonly identity?: Identity
  readonly token?: string
  readonly proxyUrl?: string
  readonly habits?: Misbehaviour
}

/** Opens a cluster whose login has a signing key that counts its signatures. */
async function open(at: At, options: ConnectOptions = {}) {
  const { url, caPem = authority.ca, serverName = 'localhost', identity = jane, token } = at
  const key = softwareKey(identity.key, at.habits)
  const vault = new Vault({ freezeLimitMs: 300 })
  vault.onLogin(() => ({
    server: url,
    caData: caPem,
    tlsServerName: serverName,
    certificateData: identity.chain,
    signingKey: key,
    ...(token !== undefined && { token }),
    ...(at.proxyUrl !== undefined && { proxyUrl: at.proxyUrl }),
  }))
  const cluster = await connect({ vault, ...options })
  clusters.push(cluster)
  return { cluster, key }
}

const times = (count: number, work: () => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, work))

describe('many requests at once', () => {
  it.each([true, false])('need few signatures (the server offers HTTP/2: %s)', async (http2) => {
    await using sandbox = await startSandbox({ http2 })
    const { certificate, key: pem } = await sandbox.issueCertificate({ user: 'jane' })
    const { cluster, key } = await open({
      ...{ url: sandbox.url, caPem: sandbox.caPem, serverName: '127.0.0.1' },
      identity: { chain: certificate, key: pem },
    })
    const statuses = await times(50, async () => {
      const response = await cluster.fetch('/api/v1/namespaces')
      await response.text()
      return response.status
    })
    expect(statuses).toEqual(Array(50).fill(200))
    const users = new Set(sandbox.requests.map(({ user }) => user))
    const versions = new Set(sandbox.requests.map(({ httpVersion }) => httpVersion))
    expect([...users, ...versions]).toEqual(['jane', http2 ? '2.0' : '1.1'])
    const used = new Set(sandbox.requests.map(({ connection }) => connection)).size
    // Every signature was for a connection that was used.
    expect(key.requests).toHaveLength(used)
    expect(used).toBeLessThanOrEqual(http2 ? 1 : 4)
  })
})

describe('a server that does not request a certificate', () => {
  it.each(TRANSPORTS)('gets the token, and no signature: %s', async (transport) => {
    await using api = await startApi({ requestCert: false })
    const { cluster, key } = await open({ ...api, token: 'a-token' }, { transport })
    expect(await (await cluster.fetch('/')).text()).toBe('ok')
    expect(api.requests).toMatchObject([{ user: undefined, authorization: 'Bearer a-token' }])
    expect([key.offers, key.requests]).toEqual([[], []])
  })

  it.each(TRANSPORTS)('gets an anonymous request if there is no token: %s', async (transport) => {
    await using api = await startApi({ requestCert: false })
    const { cluster, key } = await open(api, { transport })
    expect(await (await cluster.fetch('/')).text()).toBe('ok')
    expect(api.requests).toMatchObject([{ user: undefined, authorization: undefined }])
    expect(key.requests).toEqual([])
  })
})

describe('a signer that is always too slow', () => {
  it.each(TRANSPORTS)('is asked twice, and the failure says why: %s', async (transport) => {
    using connections = new Opened()
    await using api = await startApi({ handshakeTimeout: 300 })
    const late: Misbehaviour = {
      sign: async (sign) => {
        await connections.isLeft(-1)
        return sign()
      },
    }
    const { cluster, key } = await open({ ...api, habits: late }, { transport })
    const error = await failure(cluster.fetch('/'))
    expect(error).toMatchObject({ code: 'ERR_SIGNED_TOO_LATE' })
    expect(key.requests).toHaveLength(2)
    expect(api.requests).toEqual([])
  })
})

describe('requests through a proxy', () => {
  it.each([
    ['http', startConnectProxy],
    ['socks5', startSocksProxy],
  ] as const)('are signed for the server behind it: %s', async (scheme, start) => {
    await using api = await startApi()
    await using proxy = await start({ to: api.port })
    const way = { url: 'https://api.example:6443', proxyUrl: proxyUrl(scheme, proxy.port) }
    const { cluster, key } = await open(way)
    await times(5, async () => (await cluster.fetch('/')).text())
    expect(api.requests).toEqual(
      Array(5).fill({ user: 'jane', authorization: undefined, http: '2.0' }),
    )
    expect(proxy.asked).toEqual([expect.stringMatching(/api\.example:6443$/)])
    expect(key.requests).toHaveLength(1)
  })
})
