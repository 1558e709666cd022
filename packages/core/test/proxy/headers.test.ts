import type { OutgoingHttpHeaders } from 'node:http'
import { DEFAULT_RULES } from 'kubecred/proxy'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, BEARER, head, type Scene, sendBytes, startScene } from './scene.ts'

let scene: Scene
afterEach(() => scene[Symbol.asyncDispose]())

describe('request headers', () => {
  const REMOVED = {
    'Proxy-Authorization': 'Basic eDp5',
    Cookie: 'a=b',
    'X-Remote-User': 'system:admin',
    'x-remote-group': 'system:masters',
    'X-Remote-Extra-Scopes': 'all',
    'X-Remote-Uid': '0',
    'X-Forwarded-For': '10.0.0.1',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'https',
    Forwarded: 'for=10.0.0.1',
    Via: '1.1 gateway',
    'X-Real-Ip': '10.0.0.1',
    Referer: 'http://127.0.0.1/',
    TE: 'trailers',
    'Keep-Alive': 'timeout=5',
    'Proxy-Connection': 'keep-alive',
    'HTTP2-Settings': 'AAMAAABk',
    'X-HTTP-Method-Override': 'DELETE',
    'X-Named': 'listed in Connection',
    __proto__x: 'kept',
  }

  it('that are hop-by-hop or claim an identity are not forwarded', async () => {
    scene = await startScene((_, response) => response.end())
    const headers = { ...BEARER, ...REMOVED, connection: 'close, X-Named, Authorization, Cookie' }
    expect(await ask(scene.port, { headers })).toMatchObject({ status: 200 })
    const { host, connection, ...rest } = scene.seen[0]?.headers ?? {}
    expect(rest).toEqual({
      authorization: ['Bearer secret-token'],
      'user-agent': [expect.stringMatching(/^kubecred/)],
      __proto__x: ['kept'],
    })
    expect(connection).toEqual(['keep-alive'])
    expect(host).toEqual([new URL(scene.plain.url).host])
  })

  it('are otherwise forwarded unchanged, and repeated ones are not joined', async () => {
    scene = await startScene((_, response) => response.end(), {
      rules: { ...DEFAULT_RULES, allowImpersonation: true },
    })
    const headers = {
      ...BEARER,
      accept: 'application/json',
      'user-agent': 'kubectl/v1.32',
      'accept-encoding': 'gzip',
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b, c'],
      'kubectl-command': 'kubectl get',
      constructor: 'x',
    } as unknown as OutgoingHttpHeaders
    await ask(scene.port, { headers })
    expect(scene.seen[0]?.headers).toMatchObject({
      accept: ['application/json'],
      'user-agent': ['kubectl/v1.32'],
      'accept-encoding': ['gzip'],
      'impersonate-user': ['jane'],
      'impersonate-group': ['a', 'b, c'],
      'kubectl-command': ['kubectl get'],
      constructor: ['x'],
    })
  })

  it('named __proto__ are harmless', async () => {
    scene = await startScene((_, response) => response.end())
    const lines = ['__proto__: a', '__proto__: b', 'Connection: close']
    const text = await sendBytes(scene.port, head(scene.port, 'GET /api HTTP/1.1', ...lines))
    expect(text).toMatch(/^HTTP\/1.1 200 /)
    expect(scene.seen[0]?.headers['authorization']).toEqual(['Bearer secret-token'])
  })

  it('lose the bearer token that browsers send as a WebSocket subprotocol', async () => {
    scene = await startScene((_, response) => response.end())
    for (const offered of ['v5.channel.k8s.io, ', '']) {
      const protocols = `${offered}base64url.bearer.authorization.k8s.io.c2VjcmV0`
      await ask(scene.port, { headers: { ...BEARER, 'sec-websocket-protocol': protocols } })
    }
    expect(scene.seen.map(({ headers }) => headers['sec-websocket-protocol'])).toEqual([
      ['v5.channel.k8s.io'],
      undefined,
    ])
  })
})

/** UTF-8 in a header, as Node represents it: one character for each byte. */
const UMLAUT = Buffer.from('ü').toString('latin1')

describe('response headers', () => {
  it('that are not for the client are removed, and the security headers are added', async () => {
    scene = await startScene((_, response) => {
      response.writeHead(200, {
        'content-type': 'text/html',
        'set-cookie': ['a=b', 'c=d'],
        'content-security-policy': "default-src 'self'",
        'x-content-type-options': 'anything',
        'access-control-allow-origin': '*',
        'access-control-allow-credentials': 'true',
        'strict-transport-security': 'max-age=1000',
        'alt-svc': 'h3=":443"',
        'service-worker-allowed': '/',
        trailer: 'x-late',
        warning: ['299 - "one"', `299 - "${UMLAUT}"`],
        'x-named': 'for the proxy',
        connection: 'close, X-Named',
        'audit-id': '1',
      } as unknown as OutgoingHttpHeaders)
      response.end('<script>fetch("/api")</script>')
    })
    const { headers, text } = await ask(scene.port)
    const { date, connection, 'keep-alive': _, ...rest } = headers
    expect(rest).toEqual({
      'content-type': ['text/html'],
      'content-length': ['30'],
      'content-security-policy': ["default-src 'self'", 'sandbox'],
      'x-content-type-options': ['nosniff'],
      warning: ['299 - "one"', `299 - "${UMLAUT}"`],
      'audit-id': ['1'],
    })
    expect(date).toHaveLength(1)
    expect(connection).toEqual(['close'])
    expect(text).toContain('<script>')
  })

  it('with a redirect are forwarded, and the redirect is not followed', async () => {
    scene = await startScene((_, response) => {
      response.writeHead(302, { location: 'https://evil.example/collect' }).end()
    })
    const answer = await ask(scene.port)
    expect(answer).toMatchObject({
      status: 302,
      headers: {
        location: ['https://evil.example/collect'],
        'content-security-policy': ['sandbox'],
        'x-content-type-options': ['nosniff'],
      },
    })
    expect(scene.seen).toHaveLength(1)
  })
})
