import { describe, expect, it } from 'vitest'
import { type AnyUndici, ask, NAMESPACES, openScene, type Scene, statuses } from './scene.ts'

const MADE = JSON.stringify({ metadata: { name: 'made' } })
const POST = { method: 'POST', body: MADE, headers: { 'content-type': 'application/json' } }

/** Tests undici's own fetch, and that of Node, which is another version of undici. */
export function describeFetch(name: string, undici: AnyUndici): void {
  describe(`fetch with a dispatcher of ${name}`, () => {
    const own = undici.fetch as unknown as typeof globalThis.fetch
    it.each([
      ['its own', own],
      ['Node’s own, which is another undici', globalThis.fetch],
    ])('is sent again after a 401, with its body: %s', async (_, fetch) => {
      await using scene = await openScene(undici)
      const lengths = watchLengths(scene)
      const { dispatcher, origin } = scene
      const send = (init: RequestInit = {}) =>
        fetch(origin + NAMESPACES, { ...init, dispatcher } as unknown as RequestInit)
      expect((await send()).status).toBe(200)
      scene.sandbox.revoke('jane')
      const response = await send(POST)
      expect(response.status).toBe(201)
      expect(await response.json()).toMatchObject({ metadata: { name: 'made' } })
      expect(statuses(scene)).toEqual([200, 401, 201])
      // The length is sent again, too.
      expect(lengths).toEqual([undefined, String(MADE.length), String(MADE.length)])
    })

    it('works with the global dispatcher, and only for this cluster', async () => {
      await using scene = await openScene(undici)
      const before = undici.getGlobalDispatcher()
      undici.setGlobalDispatcher(scene.dispatcher)
      try {
        const { statusCode, body } = await undici.request(scene.origin + NAMESPACES)
        await body.dump()
        expect(statusCode).toBe(200)
        expect((await fetch(scene.origin + NAMESPACES)).status).toBe(200)
        await expect(fetch('https://elsewhere.test/version')).rejects.toMatchObject({
          cause: { code: 'ERR_FOREIGN_ORIGIN' },
        })
      } finally {
        undici.setGlobalDispatcher(before)
      }
      expect(scene.sandbox.requests.map(({ user }) => user)).toEqual(['jane', 'jane'])
    })

    it('sends a form of request() again', async () => {
      await using scene = await openScene(undici)
      await ask(scene.dispatcher)
      scene.sandbox.revoke('jane')
      const body = new undici.FormData()
      body.append('name', 'made')
      const { status } = await ask(scene.dispatcher, { method: 'POST', body })
      expect(status).toBe(415)
      expect(statuses(scene)).toEqual([200, 401, 415])
    })
  })
}

function watchLengths({ sandbox }: Scene): (string | undefined)[] {
  const lengths: (string | undefined)[] = []
  sandbox.respondWith(({ headers }) => {
    lengths.push(headers['content-length'])
    return undefined
  })
  return lengths
}
