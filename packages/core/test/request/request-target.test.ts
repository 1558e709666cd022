import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeTarget } from '../../src/dial/target.ts'
import {
  findTarget,
  findTargetOnAnyServer,
  isProxied,
  isStreaming,
  pathOn,
  splitPath,
} from '../../src/request/request-target.ts'

const tls = { ca: undefined, serverName: undefined, insecure: false }
const target = makeTarget('https://api.example:6443', tls)
const prefixed = makeTarget('https://rancher.example/k8s/clusters/c-1', tls)

const pathOf = (input: string | URL, at = target) => {
  const { pathname, search } = findTarget(input, at)
  return pathname + search
}

describe('a path', () => {
  it.each([
    ['/api/v1/namespaces', '/api/v1/namespaces'],
    ['/api/v1/pods?watch=true&limit=5', '/api/v1/pods?watch=true&limit=5'],
    ['/api/v1/pods?labelSelector=a%3Db', '/api/v1/pods?labelSelector=a%3Db'],
    ['/a b', '/a%20b'],
    ['/', '/'],
  ])('%s goes to this server', (input, path) => {
    expect(pathOf(input)).toBe(path)
  })

  it("is appended to the server's own path", () => {
    expect(pathOf('/api/v1/pods', prefixed)).toBe('/k8s/clusters/c-1/api/v1/pods')
    expect(pathOf('/api/v1/a b', prefixed)).toBe('/k8s/clusters/c-1/api/v1/a%20b')
  })

  it('cannot put a line break into the request', () => {
    expect(pathOf('/x\r\nHost: evil')).not.toMatch(/[\r\n ]/)
  })
})

describe('another origin is rejected:', () => {
  it.each([
    'https://evil.example/',
    'http://api.example:6443/',
    'https://api.example/',
    'https://api.example:6444/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example',
    'https://api.example:6443@evil.example/',
    'https://user:pw@api.example:6443/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'api/v1',
    '',
  ])('%s', (input) => {
    expect(() => findTarget(input, target)).toThrow(
      expect.objectContaining({ code: 'ERR_FOREIGN_ORIGIN' }),
    )
  })

  it('any string is rejected or stays on the server', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `/${text}`),
        ),
        (input) => {
          let place: { pathname: string; search: string }
          try {
            place = findTarget(input, target)
          } catch (error) {
            expect(error).toMatchObject({ code: 'ERR_FOREIGN_ORIGIN' })
            return
          }
          const url = new URL(target.origin + place.pathname + place.search)
          expect([url.origin, url.pathname + url.search]).toEqual([
            target.origin,
            place.pathname + place.search,
          ])
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('a URL on this server', () => {
  it('is accepted as a string and as a URL object', () => {
    expect(pathOf('https://api.example:6443/api?x=1')).toBe('/api?x=1')
    expect(pathOf(new URL('https://api.example:6443/api'))).toBe('/api')
  })
})

describe('a target whose server is chosen with the credential', () => {
  it('is a path on any server, after the path of that server', () => {
    const found = findTargetOnAnyServer('/api/v1/a b?x=1')
    expect(found).toEqual({ pathname: '/api/v1/a%20b', search: '?x=1', isRelative: true })
    expect(pathOn(found, prefixed)).toBe('/k8s/clusters/c-1/api/v1/a%20b?x=1')
    expect(pathOn(found, target)).toBe('/api/v1/a%20b?x=1')
  })

  it('is a URL on its own server, as it is written', () => {
    for (const input of ['https://one.test/a?x', new URL('https://one.test/a?x')]) {
      const found = findTargetOnAnyServer(input)
      expect(found).toEqual({ pathname: '/a', search: '?x', origin: 'https://one.test' })
      expect(pathOn(found, prefixed)).toBe('/a?x')
    }
  })

  it.each(['//evil.example/', '/\\evil.example', 'api', '', 'https://u:p@one.test/'])(
    '%j is rejected',
    (input) => {
      expect(() => findTargetOnAnyServer(input)).toThrow(
        expect.objectContaining({ code: 'ERR_FOREIGN_ORIGIN' }),
      )
    },
  )

  it('is split at the first question mark', () => {
    expect(splitPath('/a')).toEqual({ pathname: '/a', search: '' })
    expect(splitPath('/a?b?c')).toEqual({ pathname: '/a', search: '?b?c' })
    expect(splitPath('?b')).toEqual({ pathname: '', search: '?b' })
  })
})

describe('a proxy subresource', () => {
  it.each([
    ['/api/v1/namespaces/a/pods/b/proxy', true],
    ['/api/v1/namespaces/a/pods/b:80/proxy/x/y', true],
    ['/api/v1/namespaces/a/services/https:b:443/proxy/', true],
    ['/k8s/clusters/c/api/v1/nodes/n/proxy/metrics', true],
    ['/api/v1/namespaces/a/pods/b', false],
    ['/api/v1/namespaces/proxy/pods', false],
    ['/api/v1/namespaces/a/configmaps/proxy', false],
    ['/apis/x.io/v1/namespaces/a/things/b/proxy', false],
    ['/apis/apps/v1/namespaces/services/deployments/proxy', false],
    ['/api/v1/namespaces/services/configmaps/proxy', false],
    ['/api/v1/namespaces/pods/services/proxy', false],
    ['/api/v1/namespaces/pods/services/web/proxy/x', true],
    ['/api/v1/nodes/n/proxyx', false],
    ['/api/v1/nodes/n', false],
  ])('%s: %s', (path, expected) => {
    expect(isProxied(path)).toBe(expected)
  })
})

describe('a stream', () => {
  it.each([
    ['/api/v1/pods', '?watch=true', true],
    ['/api/v1/pods', '?limit=1&watch=1', true],
    ['/api/v1/pods', '?watch=false', false],
    ['/api/v1/pods', '?fieldSelector=watch%3Dtrue', false],
    ['/api/v1/namespaces/a/pods/b/log', '?follow=true', true],
    ['/api/v1/watch/namespaces/a/pods', '', true],
    ['/api/v1/namespaces/watch/pods', '', false],
    ['/apis/apps/v1/watch/deployments', '', true],
    ['/apis/apps/v1/namespaces/watch/deployments', '', false],
    ['/k8s/clusters/c/api/v1/watch/pods', '', true],
    ['/api/v1/pods', '?watch=t', true],
    ['/api/v1/pods', '?watch=T&limit=1', true],
    ['/api/v1/pods', '?watch=TRUE', true],
    ['/api/v1/pods', '?watch=True', true],
    ['/api/v1/pods', '?watch=truely', false],
    ['/api/v1/pods', '?watch=0', false],
    ['/api/v1/pods', '?unwatch=true', false],
    ['/api/v1/pods', '', false],
  ])('%s%s: %s', (pathname, search, expected) => {
    expect(isStreaming({ pathname, search })).toBe(expected)
  })
})
