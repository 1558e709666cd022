import fc from 'fast-check'
import { DEFAULT_RULES } from 'kubecred/proxy'
import { describe, expect, it } from 'vitest'
import { readAskedPath } from '../../src/proxy/request-head.ts'
import { brokenRule } from '../../src/proxy/rules.ts'

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
    expect(brokenRule(DEFAULT_RULES, asking(path))).toBe('the path is rejected')
  })

  it.each([
    '/',
    '/api/v1/namespaces/a/pods/b/log',
    '/api/v1/namespaces/a/pods/b/portforward',
    '/api/v1/namespaces/a/services/b/proxy/exec',
    '/apis/x.example.io/v1/pods/b/exec',
  ])('accept %s', (path) => {
    expect(brokenRule(DEFAULT_RULES, asking(path, 'POST', true))).toBeUndefined()
  })

  it('look anywhere in the text unless anchored, and want one that accepts and none that rejects', () => {
    const rules = {
      acceptPaths: [/v1/, /^\/version$/],
      rejectPaths: [/secrets/],
      rejectMethods: [/POST|PUT/],
    }
    expect(brokenRule(rules, asking('/api/v1/pods'))).toBeUndefined()
    expect(brokenRule(rules, asking('/version'))).toBeUndefined()
    expect(brokenRule(rules, asking('/version/x'))).toBe('the path is not accepted')
    expect(brokenRule(rules, asking('/api/v1/secrets'))).toBe('the path is rejected')
    expect(brokenRule(rules, asking('/api/v1/pods', 'PUT'))).toBe('the method is rejected')
  })

  it('do not remember the request before', () => {
    const rules = { ...DEFAULT_RULES, rejectPaths: [/secrets/g, /^\/hidden/y] }
    for (const path of ['/api/v1/secrets', '/hidden', '/api/v1/secrets', '/hidden']) {
      expect(brokenRule(rules, asking(path))).toBe('the path is rejected')
    }
  })
})

describe('reading only', () => {
  const rules = { ...DEFAULT_RULES, rejectPaths: [], readOnly: true }

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'get', ''])('%j is no reading', (method) => {
    expect(brokenRule(rules, asking('/api/v1/pods', method))).toBeDefined()
  })

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
  ])('%s leads further', (path) => {
    expect(brokenRule(rules, asking(path))).toMatch(/leads into/)
  })

  it.each([
    '/',
    '/version',
    '/api/v1/namespaces/proxy/configmaps/exec',
    '/api/v1/namespaces/pods/configmaps/proxy',
    '/api/v1/namespaces/a/pods/exec',
    '/api/v1/namespaces/a/pods/b/log',
    '/apis/apps/v1/namespaces/a/deployments/proxy/scale',
  ])('%s is a reading', (path) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      expect(brokenRule(rules, asking(path, method))).toBeUndefined()
    }
  })

  it('no other protocol', () => {
    expect(brokenRule(rules, asking('/api/v1/pods', 'GET', true))).toMatch(/protocol/)
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

  it('that is accepted means the same to whoever reads it', () => {
    fc.assert(
      fc.property(target, (text) => {
        const asked = readAskedPath(text)
        if (typeof asked === 'string') return
        // A browser's reader, which resolves dots and turns backslashes, changes nothing of its meaning.
        const { pathname, host, hash } = new URL(`https://host.example${text}`)
        expect(host).toBe('host.example')
        expect(hash).toBe('')
        expect(decodeURIComponent(pathname)).toBe(asked.decoded)
        expect(asked.written + asked.search).toBe(text)
        // Nor does decoding it once more.
        expect(decodeURIComponent(asked.decoded)).toBe(asked.decoded)
        expect(asked.decoded.split('/').slice(1, -1)).not.toContain('')
      }),
      { numRuns: 3000 },
    )
  })

  it('is read in no time, however long', () => {
    const long = `/${'a.'.repeat(20_000)}/${'-'.repeat(20_000)}%`
    expect(readAskedPath(long)).toMatch(/encoding/)
    expect(typeof readAskedPath('/a'.repeat(30_000))).toBe('object')
  })
})
