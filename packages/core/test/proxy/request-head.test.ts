import { describe, expect, it } from 'vitest'
import { parseRequestPath, readHead } from '../../src/proxy/request-head.ts'

const headersOf = (...raw: string[]) => readHead(raw).headers

describe('the headers of a request', () => {
  it('are forwarded with lower-case names, and repeated ones as a list', () => {
    expect(headersOf('Accept', 'a', 'X-One', '1', 'x-one', '2', 'X-ONE', '3')).toEqual({
      accept: 'a',
      'x-one': ['1', '2', '3'],
    })
  })

  it.each([
    'Keep-Alive',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Content-Length',
    'Expect',
    'HTTP2-Settings',
    'Proxy-Authorization',
    'Proxy-Authenticate',
    'Cookie',
    'Cookie2',
    'Forwarded',
    'Via',
    'X-Real-IP',
    'Referer',
    'X-HTTP-Method',
    'X-HTTP-Method-Override',
    'X-Method-Override',
    '__proto__',
    'X-Remote-User',
    'X-Remote-Extra-Scopes',
    'X-Forwarded-For',
    'X-Forwarded-Client-Cert',
    'Connection',
    'Host',
    'Origin',
    'Sec-Fetch-Site',
    'Authorization',
    'Upgrade',
  ])('do not have %s', (name) => {
    expect(headersOf(name, 'x', 'Accept', 'a')).toEqual({ accept: 'a' })
  })

  it.each(['X-Remote', 'X-Forwarded', 'X-Realm', 'Y-Remote-User', 'Remote-User', 'Content-Type'])(
    'have %s',
    (name) => {
      expect(headersOf(name, 'x')).toEqual({ [name.toLowerCase()]: 'x' })
    },
  )

  it.each([
    ['Host', 'host'],
    ['Origin', 'origin'],
    ['Sec-Fetch-Site', 'fetchSite'],
    ['Authorization', 'authorization'],
    ['Upgrade', 'upgrade'],
  ] as const)('have %s only for the proxy, and only once', (name, field) => {
    expect(readHead([name, 'x'])).toMatchObject({ [field]: 'x', problem: undefined })
    expect(readHead([name, 'x', name.toUpperCase(), 'x']).problem).toBe(
      `the header ${name.toLowerCase()} is repeated`,
    )
    // Empty is not missing.
    expect(readHead([name, '', name, 'x']).problem).toBeDefined()
  })

  it('say whether they impersonate', () => {
    expect(readHead(['Impersonate-User', 'jane']).isImpersonating).toBe(true)
    expect(readHead(['Impersonate-Anything', '']).isImpersonating).toBe(true)
    expect(readHead(['X-Impersonate-User', 'jane', 'Impersonate', 'x']).isImpersonating).toBe(false)
  })

  it('lose those that Connection lists, in any of its lines', () => {
    expect(
      headersOf(
        'X-One',
        '1',
        'X-Two',
        '2',
        'Connection',
        'close, X-One',
        'Connection',
        ' x-two ',
        'X-Three',
        '3',
      ),
    ).toEqual({ 'x-three': '3' })
  })

  it.each(['keep-alive', 'close', 'Upgrade', 'keep-alive, Upgrade', 'Keep-Alive,upgrade'])(
    'are complete if Connection is %s',
    (connection) => {
      const raw = ['Connection', connection, 'Impersonate-User', 'jane']
      expect(readHead(raw)).toMatchObject({
        headers: { 'impersonate-user': 'jane' },
        problem: undefined,
      })
    },
  )

  it('are ambiguous if Connection removes an impersonation', () => {
    for (const listed of ['impersonate-user', 'close,  Impersonate-Group', 'IMPERSONATE-x']) {
      expect(readHead(['Connection', listed]).problem).toMatch(/^the header connection lists imper/)
    }
    expect(readHead(['Connection', 'x-impersonate-user']).problem).toBeUndefined()
  })

  it('lose the bearer token among the protocols of a WebSocket', () => {
    const bearer = 'Base64url.Bearer.Authorization.k8s.io.c2VjcmV0'
    const name = 'sec-websocket-protocol'
    expect(headersOf('Sec-WebSocket-Protocol', `v5.k8s.io,${bearer} , v4.k8s.io,`)).toEqual({
      [name]: 'v5.k8s.io, v4.k8s.io',
    })
    expect(headersOf(name, bearer)).toEqual({})
    expect(headersOf(name, 'a', name, bearer, name, 'b')).toEqual({ [name]: ['a', 'b'] })
  })
})

describe('the target of a request', () => {
  it.each([
    ['api/v1', 'it is not a path'],
    ['*', 'it is not a path'],
    ['https://one.test/', 'it is not a path'],
    ['/a b', /must be percent-encoded/],
    ['/a\u00e9', /must be percent-encoded/],
    ['/a#b', /must be percent-encoded/],
    ['/a?b#c', /must be percent-encoded/],
    ['/a?\u0000', /must be percent-encoded/],
    ['/a\\b', 'it contains a backslash'],
    ['/a%2fb', /an encoded slash/],
    ['/a%5Cb', /an encoded slash/],
    ['/a%25b', /an encoded slash/],
    ['/a%1fb', /an encoded slash/],
    ['/a%0Ab', /an encoded slash/],
    ['/a%7Fb', /an encoded slash/],
    ['/a%zz', /invalid percent-encoding/],
    ['/a%c3', /invalid percent-encoding/],
    ['/a%c2%80', /line separator/],
    ['/a%c2%9f', /line separator/],
    ['/a%e2%80%a8', /line separator/],
    ['/a%e2%80%a9', /line separator/],
    ['//', 'it contains an empty segment'],
    ['/a//b', 'it contains an empty segment'],
    ['/.', 'it contains a dot segment'],
    ['/..', 'it contains a dot segment'],
    ['/a/./b', 'it contains a dot segment'],
    ['/a/../b', 'it contains a dot segment'],
    ['/a/%2e%2e/b', 'it contains a dot segment'],
    ['/a/..;x/b', 'it contains a dot segment'],
    ['/a/.;x', 'it contains a dot segment'],
  ])('%j is rejected', (target, reason) => {
    const parsed = parseRequestPath(target)
    if (typeof reason === 'string') expect(parsed).toBe(reason)
    else expect(parsed).toMatch(reason)
  })

  it.each([
    ['/', '/', ''],
    ['/api/', '/api/', ''],
    ['/api/v1?x=..//%2f', '/api/v1', '?x=..//%2f'],
    ['/a%20b%c2%a0', '/a b\u00a0', ''],
    ['/.well-known/x', '/.well-known/x', ''],
    ['/a..b/...', '/a..b/...', ''],
    ['/a;b=c', '/a;b=c', ''],
  ])('%s is accepted, and decoded once', (target, decoded, search) => {
    const written = target.slice(0, target.length - search.length)
    expect(parseRequestPath(target)).toEqual({ written, decoded, search })
  })
})
