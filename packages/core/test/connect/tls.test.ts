import { type AddressInfo, createServer } from 'node:net'
import { type Sandbox, type SandboxOptions, SERVER_NAME, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { afterEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox

afterEach(() => sandbox.close())

async function start(options: SandboxOptions = {}) {
  sandbox = await startSandbox(options)
  return sandbox
}

async function connectWithCertificate(more: ConnectOptions = {}, events: CredentialEvent[] = []) {
  const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  return connect({ kubeconfig, observer: (event) => events.push(event), ...more })
}

describe.each(['pool', 'https', 'http2'] as const)(
  'certificates through the %s transport',
  (transport) => {
    it('authenticate, and a new one is used after the server refused the old one', async () => {
      await start()
      await using cluster = await connectWithCertificate({ transport })
      expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
      sandbox.revokeCertificates('jane')
      expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
      expect(sandbox.pluginRuns).toBe(2)
    })

    it('are not resumed: a new certificate is a new identity for the server', async () => {
      await start()
      await using cluster = await connectWithCertificate({ transport })
      await (await cluster.fetch('/version')).arrayBuffer()
      const first = sandbox.requests.at(-1)?.connection
      sandbox.revokeCertificates('jane')
      await (await cluster.fetch('/version')).arrayBuffer()
      expect(sandbox.requests.at(-1)).toMatchObject({ user: 'jane', status: 200 })
      expect(sandbox.requests.at(-1)?.connection).not.toBe(first)
    })

    it('are sent with their intermediates', async () => {
      await start()
      const { certificate, key } = await sandbox.issueCertificate({
        user: 'jane',
        intermediate: true,
      })
      await using cluster = await connect({
        kubeconfig: sandbox.writeKubeconfig({ user: { certificate, key } }),
        transport,
      })
      expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    })
  },
)

describe.each(['pool', 'https', 'http2'] as const)(
  'the server through the %s transport',
  (transport) => {
    it('is verified against tls-server-name', async () => {
      await start()
      const { token } = sandbox.issueToken({ user: 'jane' })
      const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
      await using right = await connect({ kubeconfig, transport, tlsServerName: SERVER_NAME })
      expect((await right.fetch('/version')).status).toBe(200)
      await using wrong = await connect({ kubeconfig, transport, tlsServerName: 'other.example' })
      await expect(wrong.fetch('/version')).rejects.toMatchObject({
        code: 'ERR_SERVER_UNTRUSTED',
        message: expect.stringContaining('certificate is not valid for this host name'),
      })
      expect(sandbox.requests).toHaveLength(1)
    })

    it('is not trusted without its CA, and nothing is sent to it', async () => {
      await start()
      const { token } = sandbox.issueToken({ user: 'jane' })
      await using cluster = await connect({ server: sandbox.url, token, env: {}, transport })
      await expect(cluster.fetch('/version')).rejects.toMatchObject({
        code: 'ERR_SERVER_UNTRUSTED',
      })
      expect(sandbox.requests).toHaveLength(0)
      await using insecure = await connect({
        server: sandbox.url,
        token,
        env: {},
        transport,
        insecureSkipTlsVerify: true,
      })
      expect((await insecure.fetch('/version')).status).toBe(200)
    })

    it('is an error with address and reason if it is unreachable', async () => {
      await start()
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      await new Promise((resolve) => server.close(resolve))
      await using cluster = await connect({
        server: `https://127.0.0.1:${port}`,
        token: 'x',
        env: {},
        transport,
      })
      await expect(cluster.fetch('/version')).rejects.toMatchObject({
        code: 'ERR_SERVER_UNREACHABLE',
        message: `connection to https://127.0.0.1:${port} failed: connection refused`,
      })
    })

    it('gets idempotent requests again if it closes kept connections', async () => {
      await start()
      const { token } = sandbox.issueToken({ user: 'jane' })
      await using cluster = await connect({
        kubeconfig: sandbox.writeKubeconfig({ user: { token } }),
        transport,
      })
      for (let count = 0; count < 5; count += 1) {
        const response = await cluster.fetch('/version', { headers: { connection: 'close' } })
        await response.arrayBuffer()
        expect(response.status).toBe(200)
      }
    })
  },
)
