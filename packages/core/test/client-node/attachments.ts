import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { startSandbox } from '@kubecred/sandbox'
import { attach } from 'kubecred/client-node'
import { describe, expect, it } from 'vitest'
import { type ClientNode, CONFIG_MAPS, codesOf, Stage } from './stage.ts'

/** Tests `attach` itself. */
export function describeAttachments(client: ClientNode): void {
  describe('attach()', () => {
    it('works for API clients that were made before', async () => {
      await using sandbox = await startSandbox()
      const kc = new client.KubeConfig()
      const exec = await sandbox.plugin({ user: 'jane' })
      kc.loadFromFile(sandbox.writeKubeconfig({ user: { exec } }))
      const api = kc.makeApiClient(client.CoreV1Api)
      await using _ = attach(kc)
      await Promise.all(Array.from({ length: 20 }, () => api.listNamespace()))
      expect(sandbox.pluginRuns).toBe(1)
    })

    it('returns the same attachment when called again, and rejects other options', async () => {
      await using stage = await Stage.open(client)
      expect(attach(stage.kc)).toBe(stage.attachment)
      expect(() => attach(stage.kc, { stdinUnavailable: 'no' })).toThrow(/already attached/)
      await stage.attachment.close()
      await using again = attach(stage.kc, { stdinUnavailable: 'no' })
      expect(again).not.toBe(stage.attachment)
    })

    it('rejects anything but a KubeConfig, and invalid limits', () => {
      for (const wrong of [{}, null, undefined]) {
        expect(() => attach(wrong as never)).toThrow(/needs a KubeConfig/)
      }
      const kc = new client.KubeConfig()
      expect(() => attach(kc, { policy: { pluginLimit: 0 } })).toThrow(/pluginLimit/)
      const misspelt = { observr: () => {} } as object
      expect(() => attach(kc, misspelt)).toThrow(/no option "observr"; did you mean observer/)
      expect(Object.keys(kc)).not.toContain('applySecurityAuthentication')
    })

    it('throws when a program copies TLS settings from its agent', async () => {
      await using stage = await Stage.withPlugin(client)
      const given: { agent?: { options: Record<string, unknown> } } = {}
      await stage.kc.applyToHTTPSOptions(given as never)
      for (const name of ['ca', 'cert', 'key']) {
        expect(() => given.agent?.options[name]).toThrow(
          new RegExp(`no "${name}" to copy: send the request with this agent, .* "kubecred run"`),
        )
      }
      expect(await stage.whoAmI()).toBe('jane')
    })

    it('reports its status without secrets', async () => {
      await using stage = await Stage.withPlugin(client)
      expect(stage.attachment.status()).toEqual({ by: 'kubecred', clusters: [] })
      await stage.whoAmI()
      const { current, clusters } = stage.attachment.status()
      expect(current).toMatchObject({ user: 'sandbox', credential: { state: 'ready', runs: 1 } })
      expect(clusters).toEqual([current])
    })
  })

  describe('close()', () => {
    it('restores the KubeConfig', async () => {
      await using stage = await Stage.withPlugin(client)
      const { prototype } = client.KubeConfig
      expect(stage.kc.applySecurityAuthentication).not.toBe(prototype.applySecurityAuthentication)
      await stage.attachment.close()
      await stage.attachment.close()
      expect(stage.kc.applySecurityAuthentication).toBe(prototype.applySecurityAuthentication)
      expect(stage.kc.applyToHTTPSOptions).toBe(prototype.applyToHTTPSOptions)
      const untouched = new client.KubeConfig()
      untouched.loadFromFile(stage.path)
      expect(Reflect.ownKeys(stage.kc)).toEqual(Reflect.ownKeys(untouched))
      await stage.listAtOnce(3)
      // client-node sends requests itself again.
      expect(stage.sandbox.pluginRuns).toBe(3)
    })

    it('keeps a method that replaced ours, and calls client-node from there', async () => {
      await using stage = await Stage.withPlugin(client)
      const { kc } = stage
      const ours = kc.applySecurityAuthentication.bind(kc)
      let calls = 0
      kc.applySecurityAuthentication = (context) => {
        calls += 1
        return ours(context)
      }
      await stage.whoAmI()
      await stage.attachment.close()
      expect(await stage.whoAmI()).toBe('jane')
      expect(calls).toBe(2)
    })

    it('ends watches with ERR_CLOSED, as does the signal', async () => {
      const life = new AbortController()
      await using stage = await Stage.withPlugin(client, {}, { attach: { signal: life.signal } })
      const ended = new Promise((resolve) => {
        void new client.Watch(stage.kc).watch(CONFIG_MAPS, {}, () => {}, resolve)
      })
      await expect.poll(() => stage.sandbox.requests.at(-1)?.status).toBe(200)
      life.abort()
      await ended
      expect(stage.attachment.status().clusters).toEqual([])
    })
  })

  describe('the KubeConfig', () => {
    it('selects the cluster of every request, while watches on another continue', async () => {
      await using other = await startSandbox()
      await using stage = await Stage.withPlugin(client)
      const seen: string[] = []
      const watch = await new client.Watch(stage.kc).watch(
        CONFIG_MAPS,
        {},
        (_, object) => seen.push(object.metadata.name),
        () => seen.push('ended'),
      )
      const { kc, api } = stage
      const first = kc.getCurrentContext()
      const { token } = other.issueToken({ user: 'ann' })
      const second = new client.KubeConfig()
      second.loadFromFile(other.writeKubeconfig({ user: { token } }))
      const [cluster, user] = [second.getCurrentCluster(), second.getCurrentUser()]
      kc.clusters.push({ ...cluster, name: 'b' } as never)
      kc.users.push({ ...user, name: 'b' } as never)
      kc.addContext({ name: 'b', cluster: 'b', user: 'b' })
      kc.setCurrentContext('b')
      await kc.makeApiClient(client.CoreV1Api).listNamespace()
      expect(other.requests.at(-1)?.user).toBe('ann')
      // The API client of the first cluster would still send to the first one.
      const codes = await api.listNamespace().then(() => [], codesOf)
      expect(codes).toContain('ERR_FOREIGN_ORIGIN')
      kc.setCurrentContext(first)
      await stage.createConfigMap('new')
      await expect.poll(() => seen).toEqual(['new'])
      watch.abort()
    })

    it('keeps only a few unused contexts open, except those with a watch', async () => {
      await using stage = await Stage.withPlugin(client)
      // So that the watch of 1.x reuses a connection.
      await stage.early.listNamespace()
      const seen: string[] = []
      const watch = await new client.Watch(stage.kc).watch(
        CONFIG_MAPS,
        {},
        (_, object) => seen.push(object.metadata.name),
        () => seen.push('ended'),
      )
      const cluster = stage.kc.getCurrentCluster()
      if (cluster === null) throw new Error('no cluster')
      for (let count = 0; count < 30; count += 1) {
        const user = `user-${count}`
        const { token } = stage.sandbox.issueToken({ user })
        stage.kc.loadFromClusterAndUser(cluster, { name: user, token })
        expect(await stage.whoAmI()).toBe(user)
      }
      expect(stage.attachment.status().clusters.length).toBeLessThanOrEqual(10)
      await expect.poll(() => stage.sandbox.connections.open).toBeLessThanOrEqual(11)
      await stage.createConfigMap('late')
      await expect.poll(() => seen).toEqual(['late'])
      watch.abort()
    })

    it('is read in client-node’s order if fields contradict each other', async () => {
      await using stage = await Stage.withPlugin(client)
      const { caPem } = stage.sandbox
      const caFile = stage.file('ca', caPem)
      const { token } = stage.sandbox.issueToken({ user: 'ann' })
      stage.kc.loadFromClusterAndUser(
        { name: 'c', server: stage.sandbox.url, caFile, caData: 'bm9uZQ==', skipTLSVerify: false },
        { name: 'u', token, username: 'bob', password: 'x' },
      )
      expect(await stage.whoAmI()).toBe('ann')
    })

    const MISTAKES: Readonly<Record<string, (stage: Stage) => void>> = {
      'a user who is not there': ({ kc }) => {
        kc.users = []
      },
      'a plugin without a version': ({ kc }) => {
        kc.users = [{ name: 'sandbox', exec: { command: 'x' } }]
      },
      'something that no kubeconfig can hold': ({ kc }) => {
        kc.users = [{ name: 'sandbox', exec: { command: 1n } }]
      },
      'an authenticator that throws': ({ kc }) => {
        kc.users = [{ name: 'sandbox' }]
        kc.addAuthenticator({
          isAuthProvider: () => {
            throw new Error('odd')
          },
          applyAuthentication: async () => {},
        })
      },
    }
    it.each(Object.keys(MISTAKES))('with %s fails the watch, not the process', async (name) => {
      await using stage = await Stage.withPlugin(client)
      MISTAKES[name]?.(stage)
      // A rejection here would end a process with an informer, which does not await it.
      const failed = new Promise<unknown>((resolve, reject) => {
        new client.Watch(stage.kc).watch(CONFIG_MAPS, {}, () => {}, resolve).catch(reject)
      })
      expect(await failed).toBeInstanceOf(Error)
      expect(await stage.failure()).not.toContainEqual(expect.stringContaining('no error'))
      expect(stage.sandbox.requests).toEqual([])
    })
  })

  describe('no credential of ours is sent', () => {
    it('with a request that has its own Authorization', async () => {
      await using stage = await Stage.withPlugin(client, { credential: 'both' })
      const { token } = stage.sandbox.issueToken({ user: 'ann' })
      const own = client.setHeaderOptions?.('Authorization', `Bearer ${token}`)
      await stage.api.listNamespace({}, own)
      expect(stage.sandbox.requests).toMatchObject([{ user: 'ann', hasClientCertificate: false }])
      expect(stage.sandbox.pluginRuns).toBe(0)
    })

    it('to another server, also after a redirect', async () => {
      await using stage = await Stage.withPlugin(client, { credential: 'both' })
      const { certificate: cert, key } = await stage.sandbox.issueCertificate({ user: 'thief' })
      const heard: unknown[] = []
      const thief = createServer({ cert, key }, ({ headers }, response) => {
        heard.push(headers)
        response.end('{}')
      })
      await once(thief.listen(0, '127.0.0.1'), 'listening')
      const { port } = thief.address() as AddressInfo
      const Location = `https://127.0.0.1:${port}/api/v1/namespaces`
      stage.sandbox.respondWith(() => ({ status: 307, headers: { Location } }))
      expect(await stage.failure()).toContain('ERR_FOREIGN_ORIGIN')
      expect(heard).toEqual([])
      thief.close()
    })
  })

  describe('client-node handles what we do not support:', () => {
    it.each(['azure', 'gcp'])('an auth-provider %s', async (name) => {
      await using stage = await Stage.open(client)
      const [user] = stage.kc.users
      const { token } = stage.sandbox.issueToken({ user: 'ann' })
      const expiry = new Date(Date.now() + 3_600_000).toISOString()
      const config = {
        'access-token': token,
        'expires-on': String(Date.now() / 1000 + 3600),
        expiry,
      }
      stage.kc.users = [{ ...user, name: user?.name ?? '', authProvider: { name, config } }]
      expect(await stage.whoAmI()).toBe('ann')
      expect(stage.attachment.status()).toEqual({ by: 'client-node', clusters: [] })
    })

    it('a custom authenticator of the program', async () => {
      await using stage = await Stage.open(client)
      const { token } = stage.sandbox.issueToken({ user: 'ann' })
      stage.kc.addAuthenticator({
        isAuthProvider: ({ authProvider }) => authProvider?.name === 'mine',
        async applyAuthentication(_, { headers = {} }) {
          Object.assign(headers, { Authorization: `Bearer ${token}` })
        },
      })
      const [user] = stage.kc.users
      stage.kc.users = [{ ...user, name: user?.name ?? '', authProvider: { name: 'mine' } }]
      expect(await stage.whoAmI()).toBe('ann')
      expect(stage.attachment.status().by).toBe('client-node')
    })
  })
}
