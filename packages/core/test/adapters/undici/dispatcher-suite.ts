import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { createDispatcher } from 'kubecred/undici'
import { describe, expect, it } from 'vitest'
import { type AnyUndici, ask, NAMESPACES, openScene, statuses } from './scene.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const MADE = JSON.stringify({ metadata: { name: 'made' } })

/** Tests a dispatcher of one version, beyond the behaviour table. */
export function describeDispatcher(name: string, undici: AnyUndici): void {
  describe(`a dispatcher of ${name}`, () => {
    it('is an instance of the Dispatcher of that undici', async () => {
      await using scene = await openScene(undici)
      expect(scene.dispatcher).toBeInstanceOf(undici.Dispatcher)
    })

    it('refreshes once for a hundred requests with a revoked token, and all of them succeed', async () => {
      await using scene = await openScene(undici)
      await ask(scene.dispatcher)
      scene.sandbox.revoke('jane')
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(scene.dispatcher)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(scene.sandbox.pluginRuns).toBe(2)
    })

    it('serves stream() and pipeline()', async () => {
      await using scene = await openScene(undici)
      const chunks: Buffer[] = []
      const collect = async (source: Readable): Promise<void> => {
        for await (const chunk of source) chunks.push(chunk as Buffer)
      }
      const echo = scene.dispatcher.pipeline(
        { path: NAMESPACES, method: 'POST', headers: JSON_TYPE },
        ({ body }) => body,
      )
      await pipeline(Readable.from([MADE]), echo, (source) => collect(source as Readable))
      expect(Buffer.concat(chunks).toString()).toContain('"made"')
      const { PassThrough } = await import('node:stream')
      const sink = new PassThrough()
      const [text] = await Promise.all([
        new Response(Readable.toWeb(sink) as ReadableStream).text(),
        scene.dispatcher.stream({ path: NAMESPACES, method: 'GET' }, () => sink),
      ])
      expect(text).toContain('"made"')
    })

    it('can be composed, and closed through the result', async () => {
      await using scene = await openScene(undici)
      const seen: string[] = []
      const composed = scene.dispatcher.compose((dispatch) => (options, handler) => {
        seen.push(options.path)
        return dispatch(options, handler)
      })
      expect((await ask(composed)).status).toBe(200)
      expect(seen).toEqual([NAMESPACES])
      await composed.close()
      await expect(ask(scene.dispatcher)).rejects.toThrow(undici.errors.ClientDestroyedError)
    })

    it('appends a path to the server’s own, but not with an origin', async () => {
      await using scene = await openScene(undici)
      const kubeconfig = scene.sandbox.writeKubeconfig({ user: { token: 'x' } })
      const server = `${scene.origin}/prefix`
      await using cluster = await connect({ kubeconfig, server })
      const dispatcher = createDispatcher(cluster, undici)
      await ask(dispatcher, { path: '/version' })
      await ask(dispatcher, { origin: scene.origin, path: '/version', query: { a: 'b' } })
      const paths = scene.sandbox.requests.map(({ path }) => path)
      expect(paths).toEqual(['/prefix/version', '/version?a=b'])
    })

    it('merges the caller’s headers into ours, in every form that undici accepts', async () => {
      await using scene = await openScene(undici, {
        connect: { as: 'ann', asGroups: ['one', 'two'] },
      })
      const seen: unknown[] = []
      scene.sandbox.respondWith(({ headers }) => {
        const { 'user-agent': agent, 'x-own': own, 'impersonate-user': user, host } = headers
        seen.push([agent, own, user, headers['impersonate-group'], host])
        return { status: 200, body: {} }
      })
      const { host } = new URL(scene.origin)
      const forms = [
        { 'X-Own': 'a', Host: 'elsewhere' },
        ['X-Own', 'a', 'Host', 'elsewhere'],
        new Map([['X-Own', 'a']]),
        { 'User-Agent': 'me', 'X-Own': ['a', 'b'], 'Impersonate-User': 'bob' },
      ]
      for (const headers of forms) {
        await ask(scene.dispatcher, { headers: headers as Record<string, string> })
      }
      const ours = [expect.stringMatching(/^kubecred\//), 'a', 'ann', 'one, two', host]
      expect(seen).toEqual([ours, ours, ours, ['me', 'a, b', 'bob', undefined, host]])
    })

    it('keeps the Content-Length that the caller set for a stream', async () => {
      await using scene = await openScene(undici)
      const lengths: unknown[] = []
      const arrived = new Promise<void>((resolve) => {
        scene.sandbox.respondWith(({ headers }) => {
          lengths.push(headers['content-length'])
          resolve()
          return undefined
        })
      })
      // So that only the caller knows the length when the first half is sent.
      async function* inHalves(): AsyncGenerator<string> {
        yield MADE.slice(0, 10)
        await arrived
        yield MADE.slice(10)
      }
      const { status } = await ask(scene.dispatcher, {
        method: 'POST',
        body: Readable.from(inHalves()),
        headers: { ...JSON_TYPE, 'Content-Length': String(MADE.length) },
      })
      expect(status).toBe(201)
      expect(lengths).toEqual([String(MADE.length)])
    })

    it('returns the server’s own 401 for a body that is too large to record', async () => {
      await using scene = await openScene(undici)
      await ask(scene.dispatcher)
      scene.sandbox.revoke('jane')
      const body = Readable.from(Array.from({ length: 10 }, () => Buffer.alloc(64 * 1024, ' ')))
      const answer = await ask(scene.dispatcher, { method: 'POST', body, headers: JSON_TYPE })
      expect(answer).toEqual({ status: 401, text: expect.stringContaining('Unauthorized') })
      expect((await ask(scene.dispatcher)).status).toBe(200)
      expect(scene.sandbox.pluginRuns).toBe(2)
    })

    it('ignores a 401 from behind a proxy subresource', async () => {
      const proxied = () => ({ status: 401, body: 'from the pod' })
      await using scene = await openScene(undici, { sandbox: { onProxyRequest: proxied } })
      const path = '/api/v1/namespaces/default/pods/web/proxy/login'
      expect(await ask(scene.dispatcher, { path })).toEqual({ status: 401, text: 'from the pod' })
      expect(scene.sandbox.pluginRuns).toBe(1)
      expect(statuses(scene)).toEqual([401])
    })

    it('fails with our error when no credential is available', async () => {
      await using scene = await openScene(undici, { plugin: { exitCode: 3, stderr: 'log in' } })
      await expect(ask(scene.dispatcher)).rejects.toMatchObject({ code: 'ERR_PLUGIN_EXITED' })
      expect(scene.sandbox.requests).toEqual([])
    })

    it('fails with undici’s own error when the server is unreachable', async () => {
      await using scene = await openScene(undici)
      await ask(scene.dispatcher)
      const { sandbox, dispatcher } = scene
      const port = new URL(sandbox.url).port
      await sandbox.close()
      await expect(ask(dispatcher)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      expect(port).not.toBe('')
    })

    it('fails with our error for a server that it does not trust', async () => {
      await using scene = await openScene(undici)
      await using other = await startSandbox()
      await using cluster = await connect({
        kubeconfig: scene.sandbox.writeKubeconfig({ user: { token: 'x' } }),
        server: other.url,
      })
      const dispatcher = createDispatcher(cluster, undici)
      await expect(ask(dispatcher)).rejects.toMatchObject({ code: 'ERR_SERVER_UNTRUSTED' })
      expect(other.requests).toEqual([])
    })

    it('rejects options that do not fit an API server', async () => {
      await using scene = await openScene(undici)
      const { dispatcher } = scene
      await expect(dispatcher.connect({ origin: scene.origin, path: '/' })).rejects.toMatchObject({
        code: 'ERR_NOT_SUPPORTED',
      })
      const followed = { path: '/', method: 'GET', maxRedirections: 3 } as const
      await expect(dispatcher.request(followed)).rejects.toMatchObject({
        code: 'ERR_NOT_SUPPORTED',
        hint: expect.stringContaining('interceptors.redirect'),
      })
      expect(scene.sandbox.requests).toEqual([])
      expect(() => createDispatcher(scene.cluster, undici, { connect: {} } as object)).toThrow(
        'createDispatcher has no option "connect"',
      )
    })
  })
}
