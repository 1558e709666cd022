import { createInterceptor } from 'kubecred/undici'
import { describe, expect, it } from 'vitest'
import { ClosedError } from '../../../src/errors/index.ts'
import { LINE } from '../../../src/request/line.ts'
import { type AnyUndici, ask, NAMESPACES, openScene, type Scene, statuses } from './scene.ts'

/** Tests an interceptor with one version, beyond the behaviour table. */
export function describeInterceptor(name: string, undici: AnyUndici): void {
  const open = async (options = {}) => {
    const scene = await openScene(undici, options)
    const agent = new undici.Agent({ connect: { ca: scene.sandbox.caPem } })
    const composed = agent.compose(createInterceptor(scene.cluster))
    const close = async (): Promise<void> => {
      await agent.destroy()
      await scene[Symbol.asyncDispose]()
    }
    return { ...scene, composed, [Symbol.asyncDispose]: close }
  }
  const here = ({ origin }: Scene) => ({ origin, path: NAMESPACES })

  describe(`an interceptor with ${name}`, () => {
    it('refreshes once for a hundred requests with a revoked token, and all of them succeed', async () => {
      await using scene = await open()
      await ask(scene.composed, here(scene))
      scene.sandbox.revoke('jane')
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => ask(scene.composed, here(scene))),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(scene.sandbox.pluginRuns).toBe(2)
    })

    it('sends the body that fetch made from a form again', async () => {
      await using scene = await open()
      await ask(scene.composed, here(scene))
      scene.sandbox.revoke('jane')
      const body = new undici.FormData()
      body.append('name', 'made')
      const response = await undici.fetch(scene.origin + NAMESPACES, {
        dispatcher: scene.composed,
        method: 'POST',
        body,
      })
      // The sandbox does not read forms; the test is about the second request.
      expect(response.status).toBe(415)
      expect(statuses(scene)).toEqual([200, 401, 415])
    })

    it('sends nothing when the credential also has a certificate', async () => {
      await using scene = await open({ plugin: { credential: 'both' } })
      await expect(ask(scene.composed, here(scene))).rejects.toMatchObject({
        code: 'ERR_NOT_SUPPORTED',
        hint: expect.stringContaining('createDispatcher'),
      })
      expect(scene.sandbox.requests).toEqual([])
      expect(scene.sandbox.connections.opened).toBe(0)
    })

    it('is referenced by the cluster only while it has requests', async () => {
      await using scene = await open()
      const { calls } = scene.cluster[LINE]
      createInterceptor(scene.cluster)
      expect(calls.size).toBe(0)
      const path = `${NAMESPACES}?watch=true`
      const { body } = await scene.composed.request({ ...here(scene), path, method: 'GET' })
      await ask(scene.composed, here(scene))
      expect(calls.size).toBe(1)
      const ended = expect(body.text()).rejects.toThrow()
      body.destroy(new Error('enough'))
      await ended
      expect(calls.size).toBe(0)
    })

    it('does not suggest to set the origin of a request when it cannot know the server of the pool', async () => {
      await using scene = await open()
      const pool = new undici.Pool(scene.origin, { connect: { ca: scene.sandbox.caPem } })
      const request = ask(pool.compose(createInterceptor(scene.cluster)))
      const error = (await request.catch((thrown: unknown) => thrown)) as { hint?: string }
      // With undici 8 the request succeeds, because it passes the origin of the pool.
      expect(error.hint ?? '').not.toContain('origin')
      await pool.destroy()
    })

    it('ends its requests with the cluster', async () => {
      await using scene = await open()
      const path = `${NAMESPACES}?watch=true`
      const { body } = await scene.composed.request({ ...here(scene), path, method: 'GET' })
      const ended = expect(body.text()).rejects.toThrow(ClosedError)
      await scene.cluster.close()
      await ended
      await expect(ask(scene.composed, here(scene))).rejects.toThrow(ClosedError)
    })
  })
}
