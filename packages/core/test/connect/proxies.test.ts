import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Sandbox, SERVER_NAME, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAuthority } from '../../../sandbox/src/certificates/authority.ts'
import { issueServerCertificate } from '../../../sandbox/src/certificates/server-certificate.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { listen, proxyUrl, startConnectProxy, startSocksProxy } from '../fixtures/proxies.ts'

const USER = 'jane-doe-77'
const PASSWORD = 'hidden-4b81f0c2'
const LOGIN = `${USER}:${PASSWORD}`

let sandbox: Sandbox
/** The sandbox under a name that only the proxies of these tests know. */
let server: string
let port: number

beforeEach(async () => {
  sandbox = await startSandbox()
  port = Number(new URL(sandbox.url).port)
  server = `https://${SERVER_NAME}:${port}`
})
afterEach(() => sandbox.close())

function connectThrough(proxy: string | undefined, more: ConnectOptions = {}) {
  const { token } = sandbox.issueToken({ user: 'jane' })
  const kubeconfig = sandbox.writeKubeconfig({
    user: { token },
    server,
    ...(proxy !== undefined && { proxyUrl: proxy }),
  })
  return connect({ kubeconfig, env: {}, ...more })
}

const WAYS = [
  ['http', startConnectProxy, 'CONNECT '],
  ['socks5', startSocksProxy, 'socks5 domain '],
] as const

describe.each(['pool', 'https', 'http2'] as const)('through a proxy (%s)', (transport) => {
  it.each(WAYS)(
    'of %s, 200 requests in turn take at most two connections',
    async (scheme, start, asks) => {
      await using proxy = await start({ to: port, login: LOGIN })
      await using cluster = await connectThrough(proxyUrl(scheme, proxy.port, LOGIN), { transport })
      for (let count = 0; count < 200; count += 1) {
        const response = await cluster.fetch('/api/v1/namespaces')
        await response.arrayBuffer()
        expect(response.status).toBe(200)
      }
      // The pool may open a second one while the first is being freed.
      expect(proxy.asked.length).toBeLessThanOrEqual(2)
      expect(new Set(proxy.asked)).toEqual(new Set([`${asks}${SERVER_NAME}:${port}`]))
    },
  )

  it.each(WAYS)('of %s, 100 at once succeed', async (scheme, start) => {
    await using proxy = await start({ to: port })
    await using cluster = await connectThrough(proxyUrl(scheme, proxy.port), { transport })
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => cluster.fetch('/version')),
    )
    const texts = await Promise.all(responses.map((response) => response.text()))
    expect(new Set(texts).size).toBe(1)
  })

  it('the server is verified as without one', async () => {
    await using proxy = await startConnectProxy({ to: port })
    const url = proxyUrl('http', proxy.port)
    await using wrong = await connectThrough(url, { transport, tlsServerName: 'other.example' })
    await expect(wrong.fetch('/version')).rejects.toMatchObject({
      code: 'ERR_SERVER_UNTRUSTED',
      hint: expect.stringContaining(`Check the proxy ${url} from proxy-url`),
    })
    expect(sandbox.requests).toHaveLength(0)
  })

  it('a client certificate arrives, and the proxy sees neither it nor a token', async () => {
    await using proxy = await startConnectProxy({ to: port })
    const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { certificate, key }, server }),
      proxyUrl: proxyUrl('http', proxy.port),
      env: {},
      transport,
    })
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect(sandbox.requests.at(-1)).toMatchObject({ user: 'jane' })
    const to = `${SERVER_NAME}:${port}`
    expect(proxy.heard).toEqual([`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`])
  })

  // HTTP/2 is offered by TLS only.
  it.runIf(transport !== 'http2')('a plain http server is reached by CONNECT too', async () => {
    const plain = createServer((request, response) => response.end(request.url))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const address = plain.address()
    const to = typeof address === 'object' && address ? address.port : 0
    await using proxy = await startConnectProxy({ to })
    await using cluster = await connect({
      server: 'http://plain.example',
      env: { HTTP_PROXY: `127.0.0.1:${proxy.port}` },
      transport,
    })
    expect(await (await cluster.fetch('/version')).text()).toBe('/version')
    expect(proxy.asked).toEqual(['CONNECT plain.example:80'])
    plain.closeAllConnections()
    plain.close()
  })

  it('user and password never show', async () => {
    await using proxy = await startConnectProxy({ to: port, login: 'another:user' })
    const events: CredentialEvent[] = []
    const url = proxyUrl('http', proxy.port, LOGIN)
    const observer = (event: CredentialEvent) => events.push(event)
    await using cluster = await connectThrough(url, { transport, observer })
    const error = await cluster.fetch('/version').catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'ERR_PROXY_FAILED' })
    const basic = Buffer.from(LOGIN).toString('base64')
    expectNoLeak([error, cluster, cluster.status(), events], [USER, PASSWORD, basic])
  })

  it('close() leaves nothing open if the proxy hangs', async () => {
    await using proxy = await listen((socket) => socket.resume())
    const cluster = await connectThrough(proxyUrl('http', proxy.port), { transport })
    const ended = cluster.fetch('/version').catch((reason: unknown) => reason)
    await vi.waitFor(() => expect(proxy.open.size).toBe(1))
    await cluster.close()
    expect(await ended).toBeInstanceOf(Error)
    await vi.waitFor(() => expect(proxy.open.size).toBe(0))
  })

  it('the next request tries again after a failure', async () => {
    let isUp = false
    await using good = await startConnectProxy({ to: port })
    await using proxy = await listen((socket) => {
      if (isUp) good.asked.push('again')
      socket.end('HTTP/1.1 503 Wait\r\n\r\n')
    })
    await using cluster = await connectThrough(proxyUrl('http', proxy.port), { transport })
    await expect(cluster.fetch('/version')).rejects.toThrow('503 Service Unavailable')
    isUp = true
    await expect(cluster.fetch('/version')).rejects.toThrow('503 Service Unavailable')
    expect(good.asked).toEqual(['again'])
  })
})

describe('the choice of proxy', () => {
  it('is proxy-url before the environment', async () => {
    await using named = await startConnectProxy({ to: port })
    await using other = await startConnectProxy({ to: port })
    const env = { HTTPS_PROXY: proxyUrl('http', other.port), NO_PROXY: '*' }
    await using cluster = await connectThrough(proxyUrl('http', named.port), { env })
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect([named.asked.length, other.asked.length]).toEqual([1, 0])
  })

  it('is that of the environment, which may be SOCKS5', async () => {
    await using proxy = await startSocksProxy({ to: port })
    const env = { https_proxy: proxyUrl('socks5', proxy.port) }
    await using cluster = await connectThrough(undefined, { env })
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect(proxy.asked).toHaveLength(1)
  })

  it('is none for servers on this machine and in NO_PROXY', async () => {
    const HTTPS_PROXY = 'http://127.0.0.1:1'
    await using local = await connectThrough(undefined, {
      server: sandbox.url,
      env: { HTTPS_PROXY },
    })
    expect((await local.fetch('/version')).status).toBe(200)
    const env = { HTTPS_PROXY, NO_PROXY: SERVER_NAME }
    await using exempt = await connectThrough(undefined, { env })
    await expect(exempt.fetch('/version')).rejects.toMatchObject({ code: 'ERR_SERVER_UNREACHABLE' })
  })

  it('fails at connect() if it is invalid', async () => {
    const env = { HTTPS_PROXY: `socks4://${LOGIN}@p` }
    await expect(connectThrough(undefined, { env })).rejects.toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      message: expect.stringContaining('HTTPS_PROXY'),
    })
  })

  it('keeps connections apart', async () => {
    await using one = await startConnectProxy({ to: port })
    await using two = await startConnectProxy({ to: port })
    const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec }, server })
    for (const proxy of [one, two]) {
      const url = proxyUrl('http', proxy.port)
      const cluster = await connect({ kubeconfig, proxyUrl: url, env: {} })
      expect((await cluster.fetch('/version')).status).toBe(200)
      onTestFinished(() => cluster.close())
    }
    // One identity, hence one plugin run; two ways, hence two connections.
    expect(sandbox.pluginRuns).toBe(1)
    expect([one.asked.length, two.asked.length]).toEqual([1, 1])
  })
})

describe('an https proxy', () => {
  const program = fileURLToPath(new URL('../fixtures/makes-request.mjs', import.meta.url))

  it.each(['pool', 'https', 'http2'])(
    'is trusted by NODE_EXTRA_CA_CERTS, and the program ends by itself (%s)',
    async (transport) => {
      const authority = await createAuthority('proxy')
      const tls = await issueServerCertificate(authority)
      const ca = join(sandbox.folder, 'proxy-ca.pem')
      writeFileSync(ca, authority.certificate)
      await using proxy = await startConnectProxy({ to: port, tls, login: LOGIN })
      const { token } = sandbox.issueToken({ user: 'jane' })
      const options = {
        kubeconfig: sandbox.writeKubeconfig({ user: { token }, server }),
        proxyUrl: proxyUrl('https', proxy.port, LOGIN),
        transport,
      }
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca }
      const child = spawn(process.execPath, [program, JSON.stringify(options)], { env })
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
      expect([out, err]).toEqual(['200', ''])
      expect(proxy.asked).toEqual([`CONNECT ${SERVER_NAME}:${port}`])
    },
  )
})
