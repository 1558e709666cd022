import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  CLIENT_SECRET,
  type Issuer,
  type IssuerOptions,
  startIssuer,
} from '../fixtures/oidc-issuer.ts'
import { type ClientNode, Stage, type StageOptions } from './stage.ts'

/** Defects of client-node's auth-provider `oidc` that `attach` fixes. */
export function describeOidcDefects(client: ClientNode): void {
  describe('an issuer of tokens', () => {
    it('O1, O5: refreshes the token, and gets the client secret', async () => {
      await using scene = await open()
      await scene.list()
      expect(scene.issuer.refreshes).toBe(1)
      const { authorization } = scene.issuer.seen.at(-1) ?? {}
      expect(authorization).toMatch(/^Basic /)
    })

    it('O2: may have a certificate of a private CA', async () => {
      await using scene = await open({ tls: true })
      await scene.list()
      expect(scene.issuer.refreshes).toBe(1)
    })

    it('O3: is asked once, not for every request', async () => {
      await using scene = await open()
      for (let count = 0; count < 5; count += 1) await scene.list()
      expect(scene.issuer.refreshes).toBe(1)
    })

    it('O4: may keep the refresh token', async () => {
      await using scene = await open({ rotates: false, idTokenSeconds: 2 })
      const end = Date.now() + 5000
      while (Date.now() < end) await scene.list()
      expect(scene.issuer.refreshes).toBeGreaterThan(1)
      expect(scene.anonymous).toBe(0)
    })

    it('O6: is asked once for twenty requests at once', async () => {
      await using scene = await open({ rotates: true })
      await Promise.all(Array.from({ length: 20 }, () => scene.list()))
      expect(scene.issuer.refreshes).toBe(1)
    })

    it('O7: issues tokens that are written back if saveOidcTokens is set', async () => {
      await using scene = await open({ rotates: true }, { attach: { saveOidcTokens: true } })
      const before = readFileSync(scene.path, 'utf8')
      await scene.list()
      await expect.poll(() => readFileSync(scene.path, 'utf8')).not.toBe(before)
      expect(readFileSync(scene.path, 'utf8')).toContain('id-token')
    })
  })

  async function open(options: IssuerOptions = {}, more: StageOptions = {}) {
    const issuer = await startIssuer(options)
    const stage = await Stage.open(client, more)
    let anonymous = 0
    stage.sandbox.respondWith(({ headers }) => {
      if (headers.authorization === undefined) anonymous += 1
      const isGood = issuer.accepts(headers.authorization?.replace('Bearer ', ''))
      return isGood ? { status: 200, body: { items: [] } } : { status: 401, body: {} }
    })
    await login(stage.path, issuer)
    stage.kc.loadFromFile(stage.path)
    return {
      issuer,
      path: stage.path,
      list: () => stage.api.listNamespace(),
      get anonymous() {
        return anonymous
      },
      async [Symbol.asyncDispose]() {
        await stage[Symbol.asyncDispose]()
        await issuer.close()
      },
    }
  }
}

/** Writes what a login would have written, with an expired id token, which client-node requires. */
async function login(path: string, issuer: Issuer): Promise<void> {
  const config = JSON.parse(readFileSync(path, 'utf8')) as { users: { user: unknown }[] }
  const [entry] = config.users
  if (entry === undefined) throw new Error('the sandbox wrote no user')
  const settings = {
    'idp-issuer-url': issuer.url,
    'client-id': 'kube',
    'client-secret': CLIENT_SECRET,
    'id-token': issuer.idToken(-1000),
    'refresh-token': await issuer.logIn(),
    ...(issuer.caPem && {
      'idp-certificate-authority-data': Buffer.from(issuer.caPem).toString('base64'),
    }),
  }
  entry.user = { 'auth-provider': { name: 'oidc', config: settings } }
  writeFileSync(path, JSON.stringify(config, null, 2))
}
