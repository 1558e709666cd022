import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { type StartedPage, startPage } from '../../src/page/start-page.ts'
import { addFakeIdentity } from './fake-identity.ts'
import { BEARER, PageClient, SECRET } from './page-client.ts'

let state: LiveState
let page: StartedPage
let client: PageClient

beforeEach(async () => {
  state = new LiveState({ title: 'test', now: Date.now })
  const routes = { '/metrics': async () => ({ type: 'text/plain', body: 'up 1\n' }) } as const
  page = await startPage({ state, port: 0, secret: SECRET, routes })
  client = new PageClient(page.origin)
})
afterEach(() => page.close())

describe('access to the page', () => {
  it.each([
    '/state',
    '/metrics',
    '/identities/jane/renew',
    '/no-such-path',
    '/../package.json',
    '//',
  ])('to %s needs the secret', async (path) => {
    for (const headers of [
      {},
      { authorization: SECRET },
      { authorization: 'Bearer ' },
      { authorization: `Bearer ${SECRET}x` },
      { authorization: `Basic ${btoa(`x:${SECRET}`)}` },
      { cookie: `secret=${SECRET}; token=${SECRET}; Authorization=Bearer ${SECRET}` },
    ]) {
      const answer = await client.ask(`${path}`, { headers })
      expect([path, headers, answer.status]).toEqual([path, headers, 401])
      expect(answer.body).not.toContain(SECRET)
    }
    expect((await client.ask(`${path}?secret=${SECRET}`)).status).toBe(401)
  })

  it.each([
    'example.com',
    'localhost',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.example.com:PORT',
    'example.com:PORT',
    '127.0.0.2:PORT',
    '0.0.0.0:PORT',
  ])('is rejected for the Host "%s"', async (host) => {
    const headers = { ...BEARER, host: host.replace('PORT', String(client.port)) }
    for (const path of ['/', '/page.js', '/state', '/metrics']) {
      expect([path, (await client.ask(path, { headers })).status]).toEqual([path, 421])
    }
  })

  it('is rejected with two Host headers, or none', async () => {
    const own = `Host: 127.0.0.1:${client.port}`
    for (const lines of [`${own}\r\nHost: example.com`, `${own}\r\n${own}`, 'X: y', 'Host:']) {
      const socket = client.open(`GET / HTTP/1.1\r\n${lines}\r\n\r\n`)
      const [bytes] = await once(socket, 'data')
      expect(String(bytes)).toMatch(/^HTTP\/1.1 4\d\d/)
      socket.destroy()
    }
  })

  it.each([
    'null',
    'https://example.com',
    'http://127.0.0.1',
    'http://localhost:PORT',
    'https://127.0.0.1:PORT',
  ])('is rejected for the Origin "%s", even with the secret', async (origin) => {
    const headers = { ...BEARER, origin: origin.replace('PORT', String(client.port)) }
    for (const path of ['/', '/state', '/metrics']) {
      expect([path, (await client.ask(path, { headers })).status]).toEqual([path, 403])
    }
    const { calls } = addFakeIdentity(state, 'jane')
    const pressed = await client.ask('/identities/jane/renew', { method: 'POST', headers })
    expect([pressed.status, calls]).toEqual([403, []])
  })

  it('from another page is limited to links: no embedding, framing or fetching', async () => {
    const site = (mode: string, dest: string) => ({
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': mode,
      'sec-fetch-dest': dest,
    })
    const statusOf = async (headers: object) => (await client.ask('/', { headers })).status
    expect(await statusOf(site('navigate', 'document'))).toBe(200)
    expect(await statusOf(site('navigate', 'iframe'))).toBe(403)
    expect(await statusOf(site('no-cors', 'script'))).toBe(403)
    expect(await statusOf(site('cors', 'empty'))).toBe(403)
    expect(await statusOf({ ...site('no-cors', 'image'), 'sec-fetch-site': 'same-site' })).toBe(403)
  })

  it('with the secret includes the routes, which are read-only', async () => {
    const { status, body, headers } = await client.ask('/metrics', { headers: BEARER })
    expect([status, body, headers['content-type']]).toEqual([200, 'up 1\n', 'text/plain'])
    expect((await client.ask('/metrics', { method: 'POST', headers: BEARER })).status).toBe(405)
    expect((await client.ask('/constructor', { headers: BEARER })).status).toBe(404)
    expect((await client.ask('/', { method: 'DELETE' })).status).toBe(405)
    expect((await client.ask('/page.js', { method: 'HEAD' })).body).toBe('')
  })
})

it('every response forbids caching, framing, embedding and sniffing', async () => {
  for (const [path, headers] of [
    ['/', {}],
    ['/page.js', {}],
    ['/icon.svg', {}],
    ['/state', {}],
    ['/metrics', BEARER],
    ['/', { host: 'example.com' }],
  ] as const) {
    const answer = await client.ask(path, { headers })
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    })
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  }
})
