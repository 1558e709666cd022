import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeTarget } from '../../src/dial/target.ts'
import { findTarget, isProxied, isStreaming } from '../../src/request/request-target.ts'

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
  ])('%s%s: %s', (pathname, search, expected) => {
    expect(isStreaming({ pathname, search })).toBe(expected)
  })
})
