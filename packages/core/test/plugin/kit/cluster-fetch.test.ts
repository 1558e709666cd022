import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect as buildSelectedConnection } from 'node:net'
import { type Sandbox, SERVER_NAME, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeExecInfo } from '../../../src/plugin/exec-info.ts'
import {
  type ClusterFetch,
  clusterFetch,
  type PluginCluster,
  type PluginInfo,
  readExecInfo,
  Secret,
} from '../../../src/plugin/kit/index.ts'
import { V1 } from './spawn-plugin.ts'

let sandbox: Sandbox
const opened: ClusterFetch[] = []

beforeAll(async () => {
  sandbox = await startSandbox()
})
beforeEach(() => sandbox.respondWith(undefined))
afterAll(async () => {
  await Promise.all(opened.map((fetch) => fetch.close()))
  await sandbox.close()
})

function fetchWith(fields: Partial<PluginCluster> = {}): ClusterFetch {
  const cluster: PluginCluster = {
    server: sandbox.url,
    certificateAuthorityData: sandbox.caPem,
    insecureSkipTlsVerify: false,
    disableCompression: false,
    ...fields,
  }
  const fetch = clusterFetch({ apiVersion: V1, interactive: false, cluster })
  opened.push(fetch)
  return fetch
}

const failure = (work: Promise<unknown>): Promise<Record<string, string>> =>
  work.then(
    () => expect.unreachable(),
    (error) => error,
  )

describe('a fetch to the cluster of a plugin', () => {
  it('uses the description of the client, without a credential', async () => {
    const info = await readExecInfo(
      encodeExecInfo({
        apiVersion: V1,
        interactive: false,
        cluster: {
          server: sandbox.url,
          certificateAuthorityData: Buffer.from(sandbox.caPem).toString('base64'),
        },
      }),
    )
    const fetch = clusterFetch(info)
    const response = await fetch('/version')
    expect(response).toBeInstanceOf(Response)
    expect(await response.json()).toHaveProperty('gitVersion')
    expect(sandbox.requests.at(-1)).toMatchObject({
      path: '/version',
      user: 'system:anonymous',
      hasAuthorization: false,
      hasClientCertificate: false,
    })
    await fetch.close()
  })

  it('gets the response of the server to an anonymous user', async () => {
    expect((await fetchWith()('/api/v1/namespaces')).status).toBe(403)
  })

  it('supports methods, headers and bodies like the global fetch', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const response = await fetchWith()('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        kind: 'SelfSubjectReview',
        apiVersion: 'authentication.k8s.io/v1',
      }),
    })
    expect(await response.json()).toMatchObject({ status: { userInfo: { username: 'jane' } } })
  })

  it('checks the certificate against tls-server-name', async () => {
    expect((await fetchWith({ tlsServerName: SERVER_NAME })('/version')).status).toBe(200)
    const wrong = fetchWith({ tlsServerName: 'elsewhere.example' })('/version')
    expect(await failure(wrong)).toMatchObject({ code: 'ERR_SERVER_UNTRUSTED' })
  })

  it('trusts only the system roots without a CA, unless verification is disabled', async () => {
    const { certificateAuthorityData: _, ...fields } = {
      certificateAuthorityData: '',
      insecureSkipTlsVerify: true,
    }
    const cluster = { server: sandbox.url, insecureSkipTlsVerify: false, disableCompression: false }
    const strict = clusterFetch({ apiVersion: V1, interactive: false, cluster })
    expect(await failure(strict('/version'))).toMatchObject({ code: 'ERR_SERVER_UNTRUSTED' })
    const lax = clusterFetch({
      apiVersion: V1,
      interactive: false,
      cluster: { ...cluster, ...fields },
    })
    expect((await lax('/version')).status).toBe(200)
    opened.push(strict, lax)
  })

  it('accepts compressed responses by default', async () => {
    const seen: unknown[] = []
    const server = createServer((request, response) => {
      seen.push(request.headers['accept-encoding'])
      response.end()
    }).listen(0, '127.0.0.1')
    await vi.waitUntil(() => server.listening)
    const { port } = server.address() as AddressInfo
    for (const disableCompression of [false, true]) {
      const cluster = { server: `http://127.0.0.1:${port}`, insecureSkipTlsVerify: false }
      const info: PluginInfo = {
        apiVersion: V1,
        interactive: false,
        cluster: { ...cluster, disableCompression },
      }
      const fetch = clusterFetch(info)
      await (await fetch('/')).text()
      await fetch.close()
    }
    server.close()
    expect(seen).toEqual(['gzip', undefined])
  })

  it('does not send requests to another server', async () => {
    sandbox.respondWith(() => ({
      status: 302,
      headers: { Location: 'https://elsewhere.example/' },
    }))
    const fetch = fetchWith()
    expect((await fetch('/version')).status).toBe(302)
    for (const away of [
      fetch('https://elsewhere.example/'),
      fetch('//elsewhere.example/'),
      fetch('/version', { redirect: 'follow' }),
    ]) {
      expect(await failure(away)).toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
    }
  })

  it('follows a redirect inside the cluster with redirect: follow', async () => {
    sandbox.respondWith(({ path }) =>
      path === '/from' ? { status: 302, headers: { Location: '/version' } } : undefined,
    )
    expect((await fetchWith()('/from', { redirect: 'follow' })).status).toBe(200)
  })

  it('is aborted by its signal, and rejects after close()', async () => {
    sandbox.respondWith(() => new Promise(() => {}))
    const fetch = fetchWith()
    const hanging = failure(fetch('/version', { signal: AbortSignal.timeout(50) }))
    expect(await hanging).toMatchObject({ name: 'TimeoutError' })
    await fetch.close()
    const unused = fetchWith()
    await unused.close()
    for (const closed of [fetch, unused]) {
      expect(await failure(closed('/version'))).toMatchObject({ code: 'ERR_CLOSED' })
    }
  })
})

describe('a fetch with proxy-url', () => {
  let proxy: Server
  const tunnels: (string | undefined)[] = []

  beforeAll(async () => {
    proxy = createServer().on('connect', (request, socket) => {
      tunnels.push(request.headers['proxy-authorization'])
      const [host = '', port] = (request.url ?? '').split(':')
      const upstream = buildSelectedConnection(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        upstream
          .pipe(socket)
          .on('error', () => {})
          .pipe(upstream)
          .on('error', () => {})
      })
    })
    proxy.listen(0, '127.0.0.1')
    await vi.waitUntil(() => proxy.listening)
  })
  afterAll(() => proxy.close())

  it('goes through that proxy, with its password', async () => {
    const { port } = proxy.address() as AddressInfo
    const fetch = fetchWith({ proxyUrl: new Secret(`http://jane:pw@127.0.0.1:${port}`) })
    expect((await fetch('/version')).status).toBe(200)
    expect(tunnels).toEqual([`Basic ${btoa('jane:pw')}`])
    await fetch.close()
  })
})

describe('an invalid cluster description is rejected:', () => {
  it.each([
    [{ server: 'ftp://k' }, 'ERR_EXEC_INFO', 'server that is not a valid http or https URL'],
    [{ server: 'https://u:hunter2hunter2@k' }, 'ERR_EXEC_INFO', 'server that is not a valid http'],
    [{ proxyUrl: new Secret('ftp://hunter2hunter2:1') }, 'ERR_EXEC_INFO', 'proxy-url'],
    [
      { insecureSkipTlsVerify: true },
      'ERR_EXEC_INFO',
      'insecure-skip-tls-verify and a certificate',
    ],
    [{ certificateAuthorityData: 'no PEM' }, 'ERR_CERTIFICATE_INVALID', 'no PEM certificate'],
  ])('%o', async (fields, code, words) => {
    const error = await failure(fetchWith(fields)('/version'))
    expect(error).toMatchObject({ code })
    expect(error['message']).toContain(words)
    expect(error['message']).not.toContain('hunter2')
  })

  it.each([
    [V1, 'Set provideClusterInfo: true in the exec stanza of the kubeconfig.'],
    ['client.authentication.k8s.io/v1alpha1', 'provideClusterInfo: true'],
  ] as const)('none at all, in %s', (apiVersion, hint) => {
    expect(() => clusterFetch({ apiVersion, interactive: false })).toThrow(
      expect.objectContaining({ code: 'ERR_EXEC_INFO', hint: expect.stringContaining(hint) }),
    )
  })
})
