import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectRejected } from './expect-rejected.ts'
import { ask, BEARER, head, type Scene, sendBytes, startScene } from './scene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await startScene((_, response) => response.end('from the server'))
})
afterEach(() => scene[Symbol.asyncDispose]())

describe('the request target', () => {
  const PATHS = [
    '//evil.example/api',
    '/api//v1',
    '/api/../secret',
    '/api/v1/..',
    '/api/./v1',
    '/api/%2e%2e/secret',
    '/api/%2E./secret',
    '/api/..;/secret',
    '/api/%2e%2e%3b/secret',
    '/api%2fv1',
    '/api%2Fv1',
    '/api/v1%5c..',
    '/api/v1\\..',
    '/api/v1%00',
    '/api/v1%0d%0aX:%20y',
    '/api/v1%7f',
    '/api/v1/namespaces/d%E2%80%A8/pods/p/exec',
    '/api/v1/namespaces/d%E2%80%A9/pods/p/exec',
    '/api/v1/namespaces/d%C2%85/pods/p/exec',
    '/api/%252e%252e/secret',
    '/api/%zz',
    '/api/%e0%80%af',
    '/api/%',
    '/api#x',
  ]
  it.each(PATHS)('%s is rejected', (path) => expectRejected(scene, 400, { path }))

  it.each([
    'GET http://evil.example/api HTTP/1.1',
    'GET https://127.0.0.1/api HTTP/1.1',
    'GET evil.example:443 HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT evil.example:443 HTTP/1.1',
    'CONNECT 127.0.0.1:22 HTTP/1.1',
    'GET /a\x80pi HTTP/1.1',
  ])('%s is rejected', async (line) => {
    const text = await sendBytes(scene.port, head(scene.port, line, 'Connection: close'))
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(scene.seen).toEqual([])
  })

  it.each([
    '/',
    '/api/v1/',
    '/.well-known/openid-configuration',
    '/apis/x.example.io/v1/things/system:node:a',
    '/api/v1/namespaces/%64efault/pods',
    '/api/v1/pods?labelSelector=a%2Fb%3D..%2F%00&x=//../',
    '/api/v1/x...y/~z',
    "/a!$&'()*+,;=:@b",
  ])('%s is forwarded unchanged', async (path) => {
    expect(await ask(scene.port, { path })).toMatchObject({ status: 200 })
    expect(scene.seen.map(({ url }) => url)).toEqual([path])
  })

  it.each(['TRACE', 'trace'])(
    'with the method %s, which would echo the credential, is rejected',
    async (method) => {
      const bytes = head(scene.port, `${method} /api HTTP/1.1`, 'Connection: close')
      expect(await sendBytes(scene.port, bytes)).toMatch(/^HTTP\/1.1 40[05] /)
      expect(scene.seen).toEqual([])
    },
  )
})

describe('an upgrade', () => {
  it.each(['h2c', 'websocket, h2c', 'TLS/1.0', 'SPDY/2', 'anything'])(
    'to %s is rejected',
    async (upgrade) => {
      const headers = {
        ...BEARER,
        connection: 'Upgrade, HTTP2-Settings',
        upgrade,
        'http2-settings': 'AAMAAABk',
      }
      expect(await ask(scene.port, { headers })).toMatchObject({ status: 400 })
      expect(scene.seen).toEqual([])
    },
  )

  it('that Connection does not list is ignored', async () => {
    await ask(scene.port, { headers: { ...BEARER, upgrade: 'websocket' } })
    expect(scene.seen[0]?.headers['upgrade']).toBeUndefined()
  })
})
