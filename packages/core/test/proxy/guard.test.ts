import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectRejected, UPGRADE } from './expect-rejected.ts'
import { ask, BEARER, head, type Scene, SECRET, send, sendBytes, startScene } from './scene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await startScene((_, response) => response.end('from the server'))
})
afterEach(() => scene[Symbol.asyncDispose]())

it('a valid request is answered by the server', async () => {
  expect(await ask(scene.port)).toMatchObject({ status: 200, text: 'from the server' })
  expect(scene.seen[0]?.headers['authorization']).toEqual(['Bearer secret-token'])
})

describe('the Host header', () => {
  it.each([
    'evil.example',
    'evil.example:8001',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.',
    '127.0.0.1.evil.example',
  ])('%j is rejected, which stops DNS rebinding', (host) =>
    expectRejected(scene, 403, { headers: { host } }),
  )

  it('may be any host of the list, ignoring case', async () => {
    const answer = await ask(scene.port, {
      headers: { ...BEARER, host: `LocalHost:${scene.port}` },
    })
    expect(answer.status).toBe(200)
  })

  it('may not be repeated', async () => {
    const bytes = head(scene.port, 'GET /api HTTP/1.1', 'Host: evil.example', 'Connection: close')
    expect(await sendBytes(scene.port, bytes)).toMatch(/^HTTP\/1.1 400 /)
    expect(scene.seen).toEqual([])
  })

  it.each(['1.0', '1.1'])('may not be missing in HTTP/%s', async (version) => {
    const bytes = `GET /api HTTP/${version}\r\nAuthorization: Bearer ${SECRET}\r\nConnection: close\r\n\r\n`
    expect(await sendBytes(scene.port, bytes)).toMatch(/^HTTP\/1.1 40[03] /)
    expect(scene.seen).toEqual([])
  })
})

describe('a page in a browser', () => {
  it.each([
    ['of a foreign origin', { origin: 'https://evil.example' }],
    ['in a sandbox', { origin: 'null' }],
    ['of another port', { origin: 'http://127.0.0.1:1' }],
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of the same site', { 'sec-fetch-site': 'same-site' }],
    ['of our own origin', { 'sec-fetch-site': 'same-origin' }],
    ['with a file origin', { origin: 'file://' }],
    ['with two origins', { origin: ['http://127.0.0.1', 'https://evil.example'] }],
  ])('%s is rejected, even with the secret', (_, headers) => {
    const status = Object.values(headers).some(Array.isArray) ? 400 : 403
    return expectRejected(scene, status, { headers: headers as Record<string, string> })
  })

  it('gets no answer to a preflight request', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'GET' }
    const answer = await ask(scene.port, { method: 'OPTIONS', headers })
    expect(answer.status).toBe(403)
    expect(Object.keys(answer.headers).join()).not.toContain('access-control')
  })

  it('is not confused with a tool that sends our own origin', async () => {
    const headers = { ...BEARER, origin: scene.url }
    expect(await ask(scene.port, { headers })).toMatchObject({ status: 200 })
    expect(scene.seen[0]?.headers['origin']).toBeUndefined()
  })

  it('opened from the address bar is rejected for lack of the secret', async () => {
    const headers = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
    expect(await ask(scene.port, { headers })).toMatchObject({ status: 401 })
  })
})

describe('the secret', () => {
  it.each([
    ['missing', {}],
    ['wrong', { authorization: `Bearer ${SECRET.replace('9', '8')}` }],
    ['truncated', { authorization: `Bearer ${SECRET.slice(0, -1)}` }],
    ['too long', { authorization: `Bearer ${SECRET}x` }],
    ['empty', { authorization: 'Bearer ' }],
    ['without its scheme', { authorization: SECRET }],
    ['of another scheme', { authorization: `Basic ${btoa(`x:${SECRET}`)}` }],
    ['in a cookie', { cookie: `authorization=Bearer ${SECRET}; token=${SECRET}` }],
    ['for a proxy', { 'proxy-authorization': `Bearer ${SECRET}` }],
    [
      'in a subprotocol',
      {
        'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${Buffer.from(SECRET).toString('base64url')}, v5.channel.k8s.io`,
      },
    ],
  ])('%s is 401', async (_, headers) => {
    for (const more of [{}, UPGRADE]) {
      const answer = await ask(scene.port, { headers: { ...headers, ...more } })
      expect(answer).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': ['Bearer realm="kubecred proxy"'] },
      })
    }
    expect(scene.seen).toEqual([])
  })

  it.each([
    `/api?token=${SECRET}`,
    `/api?access_token=${SECRET}`,
    `/api?authorization=Bearer%20${SECRET}`,
  ])('is not accepted in the URL: %s', async (path) => {
    expect(await ask(scene.port, { path, headers: {} })).toMatchObject({ status: 401 })
    expect(JSON.stringify(scene.notes)).not.toContain(SECRET)
  })

  it('is accepted with the scheme in any case', async () => {
    const headers = { authorization: `bEARER ${SECRET}` }
    expect(await ask(scene.port, { headers })).toMatchObject({ status: 200 })
  })

  it('may not be repeated', async () => {
    const bytes = head(
      scene.port,
      'GET /api HTTP/1.1',
      'Authorization: Bearer x',
      'Connection: close',
    )
    expect(await sendBytes(scene.port, bytes)).toMatch(/^HTTP\/1.1 400 /)
  })

  it('is checked before anything that depends on the rules', async () => {
    const answer = await ask(scene.port, { path: '/api/v1/namespaces/a/pods/b/exec', headers: {} })
    expect(answer.status).toBe(401)
  })
})

describe('impersonation', () => {
  it.each([
    { 'Impersonate-User': 'system:admin' },
    { 'Impersonate-Group': 'system:masters' },
    { 'Impersonate-Uid': '0' },
    { 'iMPERSONATE-eXTRA-Scopes': 'all' },
    { 'Impersonate-Anything': 'x' },
  ])('by %j is rejected', (headers) => expectRejected(scene, 403, { headers }))

  it('cannot be removed by listing it in Connection', async () => {
    const headers = { 'Impersonate-User': 'x', connection: 'close, Impersonate-User' }
    expect(await ask(scene.port, { headers: { ...BEARER, ...headers } })).toMatchObject({
      status: 400,
    })
    expect(scene.seen).toEqual([])
  })
})

it('onRequest receives the outcome of each request, and nothing that may be secret', async () => {
  await ask(scene.port, { path: '/api/v1?token=hush' })
  await ask(scene.port, { path: '/api//v1?token=hush' })
  const response = await send(scene.port, { headers: { ...UPGRADE } })
  response.resume()
  expect(scene.notes).toMatchObject([
    { method: 'GET', path: '/api/v1', status: 200, isUpgrade: false },
    { method: 'GET', path: '/api//v1', status: 400, rejectedFor: 'the path' },
    { path: '/api', status: 401, isUpgrade: true, rejectedFor: 'the secret' },
  ])
  expect(scene.notes[0]).not.toHaveProperty('rejectedFor')
  expect(JSON.stringify(scene.notes)).not.toContain('hush')
})
