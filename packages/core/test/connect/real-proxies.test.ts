import { userInfo } from 'node:os'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { isInstalled, startRealProxy } from '../fixtures/real-proxy.ts'

const PASSWORD = 's3cret-71c0'

const startTinyproxy = () =>
  startRealProxy(
    'tinyproxy',
    (file) => ['-d', '-c', file],
    ({ port, log }) => `Port ${port}
Listen 127.0.0.1
Timeout 600
LogFile "${log}"
LogLevel Connect
MaxClients 100
Allow 127.0.0.1
BasicAuth jane ${PASSWORD}
`,
  )

// Without a password: for one, dante wants a user of the system. proxies.test.ts has the login, with a proxy of its own.
const startDante = () =>
  startRealProxy(
    'danted',
    (file, folder) => ['-f', file, '-p', `${folder}/pid`, '-N', '1'],
    ({ port, log }) => `logoutput: ${log}
internal: 127.0.0.1 port = ${port}
external: 127.0.0.1
socksmethod: none
clientmethod: none
user.notprivileged: ${userInfo().username}
client pass {
  from: 127.0.0.1/32 to: 0.0.0.0/0
}
socks pass {
  from: 127.0.0.1/32 to: 0.0.0.0/0
  command: connect
  log: connect
}
`,
  )

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

async function fetchManyTimes(proxyUrl: string, transport: 'pool' | 'https'): Promise<void> {
  const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
  // By name: the proxy resolves it.
  const server = sandbox.url.replace('127.0.0.1', 'localhost')
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec }, server, proxyUrl })
  await using cluster = await connect({ kubeconfig, transport })
  for (let count = 0; count < 200; count += 1) {
    const response = await cluster.fetch('/api/v1/namespaces')
    await response.arrayBuffer()
    expect(response.status).toBe(200)
  }
  sandbox.revokeCertificates('jane')
  expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  expect(sandbox.requests.at(-1)).toMatchObject({ user: 'jane' })
}

const countOf = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].length

describe.runIf(isInstalled('tinyproxy')).each(['pool', 'https'] as const)(
  'tinyproxy with a password (%s)',
  (transport) => {
    it('carries 200 requests in turn on at most two connections, a new certificate on another', async () => {
      await using proxy = await startTinyproxy()
      await fetchManyTimes(`http://jane:${PASSWORD}@127.0.0.1:${proxy.port}`, transport)
      expect([2, 3]).toContain(countOf(/CONNECT localhost:\d+ HTTP/g, proxy.log()))
    })

    it.each([
      ['without', '', 'requires a user and password (407)'],
      ['with a wrong', 'jane:wrong-8890c2@', 'rejected the user and password (401)'],
    ])('refuses us %s password', async (_, login, says) => {
      await using proxy = await startTinyproxy()
      const proxyUrl = `http://${login}127.0.0.1:${proxy.port}`
      await using cluster = await connect({ server: sandbox.url, proxyUrl, env: {}, transport })
      const error = await cluster.fetch('/version').catch((reason: unknown) => reason)
      expect(error).toMatchObject({
        code: 'ERR_PROXY_FAILED',
        message: `the proxy http://127.0.0.1:${proxy.port} ${says}`,
      })
      expectNoLeak([error], ['wrong-8890c2'])
    })

    it('reports that it cannot reach the server', async () => {
      await using proxy = await startTinyproxy()
      const proxyUrl = `http://jane:${PASSWORD}@127.0.0.1:${proxy.port}`
      await using cluster = await connect({
        server: 'https://localhost:1',
        proxyUrl,
        env: {},
        transport,
      })
      await expect(cluster.fetch('/version')).rejects.toMatchObject({
        code: 'ERR_PROXY_FAILED',
        message: expect.stringMatching(/did not connect to localhost:1: it answered 50\d/),
      })
    })
  },
)

describe.runIf(isInstalled('danted')).each(['pool', 'https'] as const)(
  'dante (%s)',
  (transport) => {
    it('carries 200 requests in turn on at most two connections, a new certificate on another', async () => {
      await using proxy = await startDante()
      await fetchManyTimes(`socks5://127.0.0.1:${proxy.port}`, transport)
      expect([2, 3]).toContain(countOf(/pass\(1\): tcp\/connect \[:/g, proxy.log()))
    })

    it('reports that it cannot reach the server', async () => {
      await using proxy = await startDante()
      await using cluster = await connect({
        server: 'https://localhost:1',
        proxyUrl: `socks5://127.0.0.1:${proxy.port}`,
        env: {},
        transport,
      })
      await expect(cluster.fetch('/version')).rejects.toMatchObject({
        code: 'ERR_PROXY_FAILED',
        message: expect.stringMatching(/did not connect to localhost:1: connection refused/),
      })
    })
  },
)
