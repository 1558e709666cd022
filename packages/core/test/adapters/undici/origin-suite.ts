import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { createInterceptor } from 'kubecred/undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AnyUndici, ask, openScene, type Scene } from './scene.ts'

const FOREIGN = { code: 'ERR_FOREIGN_ORIGIN' }

/** The credential goes to its server and nowhere else. */
export function describeOrigins(name: string, undici: AnyUndici): void {
  describe(`origins with ${name}`, () => {
    let thief: Sandbox
    let scene: Scene

    beforeEach(async () => {
      thief = await startSandbox()
      // So that nothing but our own rule stands between the credential and the thief.
      scene = await openScene(undici, { connect: { insecureSkipTlsVerify: true } })
    })
    afterEach(async () => {
      // Not even a request without a credential: an origin that is wrong is a mistake.
      expect(thief.requests).toEqual([])
      expect(thief.connections.opened).toBe(0)
      await scene[Symbol.asyncDispose]()
      await thief.close()
    })

    it.each([
      ['another origin', () => ({ origin: thief.url, path: '/version' })],
      ['another origin as a URL', () => ({ origin: new URL(thief.url), path: '/version' })],
      ['another scheme', () => ({ origin: thief.url.replace('https', 'http'), path: '/version' })],
      ['a user name', () => ({ origin: scene.origin.replace('//', '//a:b@'), path: '/version' })],
      ['a path that names a host', () => ({ path: `//${new URL(thief.url).host}/version` })],
      ['a path that is a URL', () => ({ path: `${thief.url}/version` })],
      ['both', () => ({ origin: scene.origin, path: `${thief.url}/version` })],
    ])('refuses %s, and sends nothing', async (_, options) => {
      await expect(ask(scene.dispatcher, options())).rejects.toMatchObject(FOREIGN)
      expect(scene.sandbox.requests).toEqual([])
      expect(scene.sandbox.pluginRuns).toBe(0)
    })

    it('refuses another origin to a caller with a credential of its own too', async () => {
      const headers = { authorization: 'Bearer own' }
      await expect(
        ask(scene.dispatcher, { origin: thief.url, path: '/version', headers }),
      ).rejects.toMatchObject(FOREIGN)
    })

    it('does not follow fetch to another origin', async () => {
      redirectTo(scene, `${thief.url}/version`)
      await expect(
        undici.fetch(`${scene.origin}/version`, { dispatcher: scene.dispatcher }),
      ).rejects.toMatchObject({ cause: FOREIGN })
    })

    it('does not follow a redirect interceptor to another origin, and follows it at home', async () => {
      const { redirect } = undici.interceptors
      const composed = scene.dispatcher.compose(redirect({ maxRedirections: 3 }))
      const { origin } = scene
      redirectTo(scene, `${thief.url}/version`)
      await expect(ask(composed, { origin, path: '/away' })).rejects.toMatchObject(FOREIGN)
      redirectTo(scene, '/api/v1/namespaces')
      expect((await ask(composed, { origin, path: '/away' })).status).toBe(200)
      expect(scene.sandbox.requests.at(-1)).toMatchObject({ user: 'jane' })
    })

    describe('an interceptor', () => {
      const agent = () => new undici.Agent({ connect: { rejectUnauthorized: false } })
      const headerOnly = () => createInterceptor(scene.cluster)

      it('refuses another origin', async () => {
        const composed = agent().compose(headerOnly())
        const request = ask(composed, { origin: thief.url, path: '/version' })
        await expect(request).rejects.toMatchObject(FOREIGN)
        await composed.destroy()
      })

      it('refuses a pool of which it does not know where it leads', async () => {
        const pool = new undici.Pool(thief.url, { connect: { rejectUnauthorized: false } })
        const composed = pool.compose(headerOnly())
        await expect(ask(composed, { path: '/version' })).rejects.toMatchObject(FOREIGN)
        await pool.destroy()
      })

      it('is asked for every hop of a redirect that is composed after it', async () => {
        redirectTo(scene, `${thief.url}/version`)
        const { redirect } = undici.interceptors
        const composed = agent().compose(headerOnly(), redirect({ maxRedirections: 3 }))
        const request = ask(composed, { origin: scene.origin, path: '/away' })
        await expect(request).rejects.toMatchObject(FOREIGN)
        await composed.destroy()
      })
    })
  })

  it(`refuses to follow a redirect that is composed before our interceptor (${name})`, async () => {
    await using thief = await startSandbox()
    await using scene = await openScene(undici, { connect: { insecureSkipTlsVerify: true } })
    redirectTo(scene, `${thief.url}/version`)
    const agent = new undici.Agent({ connect: { rejectUnauthorized: false } })
    const { redirect } = undici.interceptors
    const composed = agent.compose(
      redirect({ maxRedirections: 3 }),
      createInterceptor(scene.cluster),
    )
    await expect(ask(composed, { origin: scene.origin, path: '/away' })).rejects.toMatchObject({
      ...FOREIGN,
      hint: expect.stringContaining('agent.compose(createInterceptor(cluster), redirect())'),
    })
    // A connection was opened, without anything of ours on it.
    expect(thief.requests).toEqual([])
    await agent.destroy()
  })
}

function redirectTo({ sandbox }: Scene, location: string): void {
  sandbox.respondWith(({ path }) =>
    path === '/api/v1/namespaces' ? undefined : { status: 302, headers: { Location: location } },
  )
}
