import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { createInterceptor } from 'kubecred/undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AnyUndici, ask, openScene, type Scene } from './scene.ts'

const FOREIGN = { code: 'ERR_FOREIGN_ORIGIN' }

/** Tests that the credential is only sent to its server. */
export function describeOrigins(name: string, undici: AnyUndici): void {
  describe(`origins with ${name}`, () => {
    let thief: Sandbox
    let scene: Scene

    beforeEach(async () => {
      thief = await startSandbox()
      // So that only our own check keeps the credential from the other server.
      scene = await openScene(undici, { connect: { insecureSkipTlsVerify: true } })
    })
    afterEach(async () => {
      // Not even a request without a credential.
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
    ])('rejects %s, and sends nothing', async (_, options) => {
      await expect(ask(scene.dispatcher, options())).rejects.toMatchObject(FOREIGN)
      expect(scene.sandbox.requests).toEqual([])
      expect(scene.sandbox.pluginRuns).toBe(0)
    })

    it('rejects another origin even with the caller’s own credential', async () => {
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

    it('lets a redirect interceptor follow redirects only on the same origin', async () => {
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

      it('rejects another origin', async () => {
        const composed = agent().compose(headerOnly())
        const request = ask(composed, { origin: thief.url, path: '/version' })
        await expect(request).rejects.toMatchObject(FOREIGN)
        await composed.destroy()
      })

      it('rejects a pool whose origin it does not know', async () => {
        const pool = new undici.Pool(thief.url, { connect: { rejectUnauthorized: false } })
        const composed = pool.compose(headerOnly())
        await expect(ask(composed, { path: '/version' })).rejects.toMatchObject(FOREIGN)
        await pool.destroy()
      })

      it('checks every redirect of an interceptor that is composed after it', async () => {
        redirectTo(scene, `${thief.url}/version`)
        const { redirect } = undici.interceptors
        const composed = agent().compose(headerOnly(), redirect({ maxRedirections: 3 }))
        const request = ask(composed, { origin: scene.origin, path: '/away' })
        await expect(request).rejects.toMatchObject(FOREIGN)
        await composed.destroy()
      })
    })
  })

  it(`an interceptor rejects redirects of one that is composed before it (${name})`, async () => {
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
    // A connection was opened, but no credential of ours was sent.
    expect(thief.requests).toEqual([])
    await agent.destroy()
  })
}

function redirectTo({ sandbox }: Scene, location: string): void {
  sandbox.respondWith(({ path }) =>
    path === '/api/v1/namespaces' ? undefined : { status: 302, headers: { Location: location } },
  )
}
