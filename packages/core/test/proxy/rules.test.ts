import fc from 'fast-check'
import { DEFAULT_RULES } from 'kubecred/proxy'
import { describe, expect, it } from 'vitest'
import { parseRequestPath } from '../../src/proxy/request-head.ts'
import { violatedRule } from '../../src/proxy/rules.ts'

const asking = (path: string, method = 'GET', isUpgrade = false) => ({ path, method, isUpgrade })

describe('the rules of kubectl proxy', () => {
  it.each([
    '/api/v1/namespaces/a/pods/b/exec',
    '/api/v1/namespaces/a/pods/b/attach',
    '/api/v1/namespaces/a/pods/b/exec/',
    '/api/v1/namespaces/a/pods/b/executable',
    '/api/v2/x/pods/y/z/exec',
    '/api/v1/namespaces/a\u2028/pods/b/exec',
    '/api/v1/namespaces/a/pods/b\n/attach',
  ])('reject %s', (path) => {
    expect(violatedRule(DEFAULT_RULES, asking(path))).toBe('the path is rejected')
  })

  it.each([
    '/',
    '/api/v1/namespaces/a/pods/b/log',
    '/api/v1/namespaces/a/pods/b/portforward',
    '/api/v1/namespaces/a/services/b/proxy/exec',
    '/apis/x.example.io/v1/pods/b/exec',
  ])('accept %s', (path) => {
    expect(violatedRule(DEFAULT_RULES, asking(path, 'POST', true))).toBeUndefined()
  })

  it('match anywhere unless anchored, and need one match to accept and none to reject', () => {
    const rules = {
      acceptPaths: [/v1/, /^\/version$/],
      rejectPaths: [/secrets/],
      rejectMethods: [/POST/, /PUT/],
    }
    expect(violatedRule(rules, asking('/api/v1/pods'))).toBeUndefined()
    expect(violatedRule(rules, asking('/version'))).toBeUndefined()
    expect(violatedRule(rules, asking('/version/x'))).toBe('the path is not accepted')
    expect(violatedRule(rules, asking('/api/v1/secrets'))).toBe('the path is rejected')
    expect(violatedRule(rules, asking('/api/v1/pods', 'PUT'))).toBe('the method is rejected')
  })

  it('do not depend on earlier requests', () => {
    const rules = { ...DEFAULT_RULES, rejectPaths: [/secrets/g, /^\/hidden/y] }
    for (const path of ['/api/v1/secrets', '/hidden', '/api/v1/secrets', '/hidden']) {
      expect(violatedRule(rules, asking(path))).toBe('the path is rejected')
    }
  })
})

describe('read-only rules', () => {
  const rules = { ...DEFAULT_RULES, rejectPaths: [], readOnly: true }

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'get', ''])(
    'reject the method %j',
    (method) => {
      expect(violatedRule(rules, asking('/api/v1/pods', method))).toBe(
        method === '' ? 'the method is rejected' : `${method} is not a read-only method`,
      )
    },
  )

  it.each([
    '/api/v1/namespaces/a/pods/b/exec',
    '/api/v1/namespaces/a/pods/b/attach',
    '/api/v1/namespaces/a/pods/b/portforward',
    '/api/v1/namespaces/a/pods/b/proxy',
    '/api/v1/namespaces/a/pods/b:8080/proxy/x/y',
    '/api/v1/namespaces/a/services/https:b:443/proxy/',
    '/api/v1/nodes/a/proxy/run/x',
    '/api/v1/proxy/namespaces/a/services/b',
    '/k8s/clusters/c-1/api/v1/nodes/a/proxy',
    '/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/b/portforward',
  ])('reject %s, which forwards to something behind the server', (path) => {
    expect(violatedRule(rules, asking(path))).toMatch(/forwards to/)
  })

  it.each([
    '/',
    '/version',
    '/api/v1/namespaces/proxy/configmaps/exec',
    '/api/v1/namespaces/pods/configmaps/proxy',
    '/api/v1/namespaces/a/pods/exec',
    '/api/v1/namespaces/a/pods/b/log',
    '/apis/apps/v1/namespaces/a/deployments/proxy/scale',
  ])('accept %s', (path) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      expect(violatedRule(rules, asking(path, method))).toBeUndefined()
    }
  })

  it('reject upgrades', () => {
    expect(violatedRule(rules, asking('/api/v1/pods', 'GET', true))).toMatch(/protocol/)
  })
})

describe('a path', () => {
  const piece = fc.constantFrom(
    ...[
      '/',
      '.',
      '..',
      '%2e',
      '%2F',
      '%5c',
      '\\',
      '%',
      '%25',
      '%00',
      ';',
      ':',
      '?',
      '#',
      'a',
      'Z',
      '%41',
      'é',
      '%c3%a9',
      '@',
      '//',
      ' ',
    ],
  )
  const target = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`)

  it('that is accepted means the same to every parser', () => {
    fc.assert(
      fc.property(target, (text) => {
        const path = parseRequestPath(text)
        if (typeof path === 'string') return
        // The WHATWG parser, which resolves dots and replaces backslashes, does not change its meaning.
        const { pathname, host, hash } = new URL(`https://host.example${text}`)
        expect(host).toBe('host.example')
        expect(hash).toBe('')
        expect(decodeURIComponent(pathname)).toBe(path.decoded)
        expect(path.written + path.search).toBe(text)
        // Nor does decoding it once more.
        expect(decodeURIComponent(path.decoded)).toBe(path.decoded)
        expect(path.decoded.split('/').slice(1, -1)).not.toContain('')
      }),
      { numRuns: 3000 },
    )
  })

  it('is parsed in linear time', () => {
    const long = `/${'a.'.repeat(20_000)}/${'-'.repeat(20_000)}%`
    expect(parseRequestPath(long)).toMatch(/encoding/)
    expect(typeof parseRequestPath('/a'.repeat(30_000))).toBe('object')
  })
})
