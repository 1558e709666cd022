import type { Agent, ServerResponse } from 'node:http'
import { attach } from 'kubecred/client-node'
import { Vault } from 'kubecred/vault'
import { describe, expect, it, vi } from 'vitest'
import { answer, CASES, type Case, withMiddleware } from './generated-api-cases.ts'
import { type Received, ScriptedServer } from './scripted-server.ts'
import { type ClientNode, codesOf, Stage } from './stage.ts'

/** Tests the API clients that an attached KubeConfig makes. */
export function describeGeneratedApis(client: ClientNode): void {
  describe('an API client that was made after attach()', () => {
    it.each(Object.keys(CASES))('does what one from before does with %s', async (name) => {
      const { script = respond, send } = CASES[name] as Case
      await using scene = await ScriptedServer.open(client, script)
      const { early, direct } = scene
      const [expected, outcome] = [
        await outcomeOf(scene, () => send?.(early, scene) ?? early.listNamespace()),
        await outcomeOf(scene, () => send?.(direct, scene) ?? direct.listNamespace()),
      ]
      expect(outcome).toEqual(expected)
    })

    it('uses neither the agent nor the dispatcher', async () => {
      await using stage = await Stage.withPlugin(client)
      const uses = await watchTransport(stage)
      await stage.whoAmI()
      await stage.createConfigMap('one')
      stage.sandbox.revoke('jane')
      const objects = client.KubernetesObjectApi.makeApiClient(stage.kc)
      const metadata = { name: 'one', namespace: 'default' }
      const read = await objects.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
      expect(read.metadata?.name).toBe('one')
      expect(objects).toBeInstanceOf(client.KubernetesObjectApi)
      expect(uses()).toBe(0)
      await stage.early.listNamespace()
      expect(uses()).toBe(1)
    })

    it('follows the current user, also to and from one that client-node authenticates', async () => {
      await using stage = await Stage.withPlugin(client)
      const { users } = stage.kc
      expect(await stage.whoAmI()).toBe('jane')
      const { token } = stage.sandbox.issueToken({ user: 'ann' })
      const config = {
        'access-token': token,
        expiry: new Date(Date.now() + 3_600_000).toISOString(),
      }
      stage.kc.users = [{ name: 'sandbox', authProvider: { name: 'gcp', config } }]
      expect(await stage.whoAmI()).toBe('ann')
      stage.kc.users = users
      expect(await stage.whoAmI()).toBe('jane')
    })

    it('runs all middleware, in client-node’s order', async () => {
      await using scene = await ScriptedServer.open(client, respond)
      const seen: string[] = []
      class WithMiddleware extends client.CoreV1Api {
        constructor(configuration: ConstructorParameters<typeof client.CoreV1Api>[0]) {
          const promiseMiddleware = ['a', 'b'].map((name) => ({
            async pre<T>(request: T): Promise<T> {
              seen.push(`before ${name}`)
              return request
            },
            async post<T>(response: T): Promise<T> {
              seen.push(`after ${name}`)
              return response
            },
          }))
          const { baseServer, httpApi } = configuration
          const authMethods = { default: scene.kc }
          super(client.createConfiguration({ baseServer, httpApi, authMethods, promiseMiddleware }))
        }
      }
      const ofCall = withMiddleware({
        pre: () => seen.push('before call'),
        post: () => seen.push('after call'),
      })
      await scene.kc.makeApiClient(WithMiddleware).listNamespace({}, ofCall)
      const order = ['before a', 'before b', 'before call', 'after call', 'after b', 'after a']
      expect(seen).toEqual(order)
    })

    it('gives middleware the body as bytes', async () => {
      await using scene = await ScriptedServer.open(client, (_, response) =>
        answer(response, 200, { 'content-disposition': 'attachment; filename="a.json"' }, { a: 1 }),
      )
      let file: unknown
      const post = async (response: { getBodyAsFile(): Promise<unknown> }): Promise<void> => {
        file = await response.getBodyAsFile()
      }
      await scene.direct.listNamespace({}, withMiddleware({ post })).catch(() => {})
      expect(file).toEqual({ data: Buffer.from('{"a":1}'), name: 'a.json' })
    })

    it('appends its paths to the path of the server', async () => {
      await using scene = await ScriptedServer.open(client, respond, '/clusters/c1')
      await scene.direct.listNamespace()
      expect(scene.received).toMatchObject([{ path: '/clusters/c1/api/v1/namespaces' }])
    })

    it('sends a body of more than 256 KiB again after a 401', async () => {
      await using stage = await Stage.withPlugin(client)
      await stage.whoAmI()
      stage.sandbox.revoke('jane')
      const body = { metadata: { name: 'large' }, data: { value: 'x'.repeat(300 * 1024) } }
      await stage.api.createNamespacedConfigMap({ namespace: 'default', body })
      expect(stage.sandbox.requests.map(({ status }) => status)).toEqual([200, 401, 201])
    })

    it('finishes its request while the program uses many other contexts', async () => {
      let finish = (): void => {}
      await using scene = await ScriptedServer.open(client, ({ authorization }, response) => {
        if (authorization === 'Bearer of-the-user') finish = () => answer(response)
        else answer(response)
      })
      const { kc, direct, received } = scene
      const first = direct.listNamespace()
      await vi.waitUntil(() => received.length === 1)
      for (let count = 0; count < 20; count += 1) {
        kc.users = [{ name: 'u', token: `other-${count}` }]
        await direct.listNamespace()
      }
      finish()
      expect(await first).toMatchObject({ kind: 'NamespaceList' })
    })

    it('is aborted by its signal while a login is awaited', async () => {
      await using stage = await Stage.open(client)
      await stage.attachment.close()
      const vault = new Vault()
      const abort = new AbortController()
      vault.onLogin(() => new Promise(() => abort.abort()), { id: 'slow' })
      await using _ = attach(stage.kc, { vault })
      const pre = (request: { setSignal(signal: AbortSignal): void }): void =>
        request.setSignal(abort.signal)
      const sent = stage.kc
        .makeApiClient(client.CoreV1Api)
        .listNamespace({}, withMiddleware({ pre }))
      await expect(sent).rejects.toMatchObject({ name: 'AbortError' })
    })
  })

  describe('makeApiClient()', () => {
    it('is restored by close(), which ends requests in flight with ERR_CLOSED', async () => {
      await using scene = await ScriptedServer.open(client, () => {})
      const { kc, direct, received, attachment } = scene
      const sent = direct.listNamespace().then(() => [], codesOf)
      await vi.waitUntil(() => received.length === 1)
      await attachment.close()
      expect(await sent).toContain('ERR_CLOSED')
      expect(kc.makeApiClient).toBe(client.KubeConfig.prototype.makeApiClient)
    })

    it('of the program is left alone, with its HTTP library', async () => {
      await using scene = await ScriptedServer.open(client, respond)
      const cluster = scene.kc.getCurrentCluster()
      if (cluster === null) throw new Error('no cluster')
      class OwnKubeConfig extends client.KubeConfig {
        override makeApiClient<T>(type: new (configuration: never) => T): T {
          const send = (): never => {
            throw new Error('sent by the program')
          }
          const parts = {
            httpApi: { send },
            baseServer: new client.ServerConfiguration(cluster?.server ?? '', {}),
            authMethods: { default: this },
          }
          return new type(client.createConfiguration(parts) as never)
        }
      }
      const kc = new OwnKubeConfig()
      kc.loadFromClusterAndUser(cluster, { name: 'u', token: 't' })
      await using _ = attach(kc)
      const sent = kc.makeApiClient(client.CoreV1Api).listNamespace()
      await expect(sent).rejects.toThrow('sent by the program')
      expect(scene.received).toEqual([])
    })
  })
}

const respond = (_: Received, response: ServerResponse): void => answer(response)

/** Counts the requests that take the agent or dispatcher of the current context. */
async function watchTransport({ kc }: Stage): Promise<() => number> {
  const spies: { readonly mock: { readonly calls: unknown[] } }[] = []
  const context = { getHeaders: () => ({}), setHeaderParam: () => {} }
  const setAgent = (agent: Agent): unknown => spies.push(vi.spyOn(agent, 'createConnection'))
  const setDispatcher = (dispatcher: { dispatch(): unknown }): unknown =>
    spies.push(vi.spyOn(dispatcher, 'dispatch'))
  for (const setter of [{ setAgent }, { setDispatcher }]) {
    await kc.applySecurityAuthentication({ ...context, ...setter } as never)
  }
  return () => spies.flatMap(({ mock }) => mock.calls).length
}

/** What a test can compare about the outcome of a request: everything but headers of the connection. */
async function outcomeOf(
  { received }: ScriptedServer,
  send: () => Promise<unknown>,
): Promise<unknown> {
  const from = received.length
  const outcome = await send().then(
    (value) => ({ value }),
    (error: unknown) => ({ error: factsOf(error) }),
  )
  return { ...outcome, received: received.slice(from) }
}

function factsOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, cause, ...rest } = error as Error & { headers?: object }
  return {
    constructor: error.constructor,
    name,
    message: message.split('\nHeaders: ')[0],
    ...rest,
    ...(rest.headers && { headers: ownHeaders(rest.headers) }),
    ...(cause !== undefined && { cause: factsOf(cause) }),
  }
}

const CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

const ownHeaders = (headers: object): object =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION.has(name)))
