import { readFileSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { SERVER_NAME } from '@kubecred/sandbox'
import { attach } from 'kubecred/client-node'
import { describe, expect, it } from 'vitest'
import { startConnectProxy, startSocksProxy } from '../fixtures/proxies.ts'
import { type ClientNode, Stage } from './stage.ts'

/** Defects of client-node with files, fields and proxies that `attach` fixes. */
export function describeTransportDefects(client: ClientNode): void {
  /** Returns the user that the server sees for a WebSocket. */
  async function whoAmIInside({ kc }: Stage): Promise<string> {
    const output = new PassThrough()
    const exec = new client.Exec(kc)
    await exec.exec('default', 'web', 'main', ['whoami'], output, null, null, false)
    return text(output)
  }

  const become = (ask: () => Promise<string | undefined>, user: string) =>
    expect.poll(ask, { timeout: 15_000, interval: 50 }).toBe(user)

  describe('D6: a new certificate is used by WebSockets too', () => {
    it('when it comes from a plugin', async () => {
      await using stage = await Stage.withPlugin(client, { credential: 'certificate' })
      await stage.makePod('web')
      expect(await whoAmIInside(stage)).toBe('jane')
      stage.sandbox.revokeCertificates('jane')
      expect(await whoAmIInside(stage)).toBe('jane')
      expect(stage.sandbox.pluginRuns).toBe(2)
    })

    it('when it comes from files', async () => {
      await using stage = await Stage.open(client, {
        kubeconfig: async (sandbox) => {
          const { certificate, key } = await sandbox.issueCertificate({ user: 'one' })
          const [certificateFile, keyFile] = [`${sandbox.folder}/crt`, `${sandbox.folder}/key`]
          writeFileSync(certificateFile, certificate)
          writeFileSync(keyFile, key)
          return { user: { certificateFile, keyFile } }
        },
      })
      await stage.makePod('web')
      expect(await whoAmIInside(stage)).toBe('one')
      const { certificate, key } = await stage.sandbox.issueCertificate({ user: 'two' })
      stage.file('crt', certificate)
      stage.file('key', key)
      await become(() => whoAmIInside(stage), 'two')
      expect(await stage.whoAmI()).toBe('two')
    })
  })

  describe('a token file', () => {
    const inPod = (stage: Stage, user: string) => ({
      name: user,
      authProvider: { name: 'tokenFile', config: { tokenFile: stage.file(`token-${user}`) } },
    })
    const tokenOf = ({ sandbox }: Stage, user: string) => sandbox.issueToken({ user }).token

    it('F1: is not shared between users', async () => {
      await using stage = await Stage.open(client)
      const cluster = stage.kc.getCurrentCluster()
      for (const user of ['ann', 'bob']) stage.file(`token-${user}`, tokenOf(stage, user))
      stage.kc.loadFromOptions({
        clusters: [cluster],
        users: [inPod(stage, 'ann'), inPod(stage, 'bob')],
        contexts: ['ann', 'bob'].map((name) => ({ name, user: name, cluster: 'sandbox' })),
        currentContext: 'ann',
      })
      expect(await stage.whoAmI()).toBe('ann')
      stage.kc.setCurrentContext('bob')
      expect(await stage.whoAmI()).toBe('bob')
      stage.kc.setCurrentContext('ann')
      expect(await stage.whoAmI()).toBe('ann')
    })

    it('F2: may end with a newline, for WebSockets too', async () => {
      await using stage = await Stage.open(client, {
        kubeconfig: (sandbox) => ({ user: sandbox.issueToken({ user: 'ann' }) }),
      })
      await stage.makePod('web')
      stage.file('token-ann', `${tokenOf(stage, 'ann')}\n`)
      const cluster = stage.kc.getCurrentCluster()
      if (cluster === null) throw new Error('no cluster')
      stage.kc.loadFromClusterAndUser(cluster, inPod(stage, 'ann'))
      expect(await whoAmIInside(stage)).toBe('ann')
    })

    it('F3: is read again after a 401', async () => {
      await using stage = await Stage.open(client)
      const cluster = stage.kc.getCurrentCluster()
      if (cluster === null) throw new Error('no cluster')
      stage.file('token-ann', tokenOf(stage, 'ann'))
      stage.kc.loadFromClusterAndUser(cluster, inPod(stage, 'ann'))
      expect(await stage.whoAmI()).toBe('ann')
      stage.sandbox.revoke('ann')
      stage.file('token-ann', tokenOf(stage, 'ann'))
      expect(await stage.whoAmI()).toBe('ann')
    })

    it('K2: is found although client-node looks for another key', async () => {
      await using stage = await Stage.open(client, {
        kubeconfig: (sandbox) => ({ user: { tokenFile: `${sandbox.folder}/token-ann` } }),
      })
      stage.file('token-ann', tokenOf(stage, 'ann'))
      expect(await stage.whoAmI()).toBe('ann')
      stage.file('token-ann', tokenOf(stage, 'bob'))
      await become(() => stage.whoAmI(), 'bob')
    })
  })

  describe('fields that client-node drops', () => {
    it('K3: groups, uid and extra values of the impersonated user', async () => {
      await using stage = await Stage.open(client, {
        kubeconfig: (sandbox) => ({
          user: {
            ...sandbox.issueToken({ user: 'root', groups: ['system:masters'] }),
            impersonate: 'ann',
            impersonateUid: '7',
            impersonateGroups: ['dev', 'ops'],
            impersonateExtra: { reason: ['test'] },
          },
        }),
      })
      let seen: object = {}
      stage.sandbox.respondWith(({ headers }) => {
        seen = headers
        return undefined
      })
      expect(await stage.whoAmI()).toBe('ann')
      expect(seen).toMatchObject({
        'impersonate-user': 'ann',
        'impersonate-uid': '7',
        'impersonate-group': 'dev, ops',
        'impersonate-extra-reason': 'test',
      })
    })

    it('K4: the CA of a context without a user', async () => {
      await using stage = await Stage.open(client)
      stage.kc.loadFromOptions({
        clusters: stage.kc.getClusters(),
        users: [],
        contexts: [{ name: 'no-such-user', cluster: 'sandbox' }],
        currentContext: 'no-such-user',
      })
      // Anonymous, and therefore refused, but over a verified connection.
      await stage.whoAmI().catch(() => {})
      expect(stage.sandbox.requests).toMatchObject([{ user: 'system:anonymous', status: 403 }])
    })

    it('K5: disable-compression', async () => {
      await using stage = await Stage.withPlugin(client)
      const config = JSON.parse(readFileSync(stage.path, 'utf8'))
      config.clusters[0].cluster['disable-compression'] = true
      writeFileSync(stage.path, JSON.stringify(config))
      const encodings: unknown[] = []
      stage.sandbox.respondWith(({ headers }) => {
        encodings.push(headers['accept-encoding'])
        return undefined
      })
      const watch = await new client.Watch(stage.kc).watch(
        '/api/v1/namespaces',
        {},
        () => {},
        () => {},
      )
      await stage.whoAmI()
      watch.abort()
      expect(encodings).toEqual(['identity', 'identity'])
    })
  })

  describe('the connection to the server', () => {
    it('P1: uses the proxy that the environment names', async () => {
      await using stage = await throughProxy('env', 'http')
      expect(await stage.whoAmI()).toBe('jane')
    })

    it('P2: uses a SOCKS proxy with a password', async () => {
      await using stage = await throughProxy('proxy-url', 'socks5')
      expect(await stage.whoAmI()).toBe('jane')
    })

    it('P3: is shared by many requests', async () => {
      await using stage = await throughProxy('proxy-url', 'http')
      for (let count = 0; count < 20; count += 1) await stage.whoAmI()
      expect(stage.proxy.asked.length).toBeLessThanOrEqual(2)
      expect(stage.proxy.asked[0]).toContain(SERVER_NAME)
    })

    it('P4: may be plain http', async () => {
      await using stage = await Stage.open(client, { sandbox: { http: true } })
      await stage.whoAmI().catch(() => {})
      expect(stage.sandbox.requests).toMatchObject([{ user: 'system:anonymous', status: 403 }])
    })

    async function throughProxy(from: 'env' | 'proxy-url', scheme: 'http' | 'socks5') {
      const stage = await Stage.open(client, {
        kubeconfig: (sandbox) => ({ user: sandbox.issueToken({ user: 'jane' }) }),
      })
      const start = scheme === 'http' ? startConnectProxy : startSocksProxy
      const { port } = new URL(stage.sandbox.url)
      const proxy = await start({ to: Number(port), login: 'ann:secret-91b2' })
      const url = `${scheme}://ann:secret-91b2@127.0.0.1:${proxy.port}`
      const kc = new client.KubeConfig()
      kc.loadFromFile(
        stage.sandbox.writeKubeconfig({
          user: stage.sandbox.issueToken({ user: 'jane' }),
          server: `https://${SERVER_NAME}:${port}`,
          ...(from === 'proxy-url' && { proxyUrl: url }),
        }),
      )
      const env = from === 'env' ? { HTTPS_PROXY: url } : {}
      const attachment = attach(kc, { env })
      const api = kc.makeApiClient(client.CoreV1Api)
      return {
        proxy,
        async whoAmI() {
          await api.listNamespace()
          return stage.sandbox.requests.at(-1)?.user
        },
        async [Symbol.asyncDispose]() {
          await attachment.close()
          await proxy[Symbol.asyncDispose]()
          await stage[Symbol.asyncDispose]()
        },
      }
    }
  })
}
