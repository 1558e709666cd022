import { describe, expect, it } from 'vitest'
import { mergeKubeconfigs } from '../../src/kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../../src/kubeconfig/parse-kubeconfig.ts'

describe('several kubeconfig files', () => {
  const first = parseKubeconfig(
    {
      clusters: [{ name: 'k', cluster: { server: 'https://first' } }],
      users: [{ name: 'u', user: { username: 'ann' } }],
      contexts: [{ name: 'c', context: { cluster: 'k' } }],
      extensions: [{ name: 'e', extension: 1 }],
    },
    '/a',
  )
  const second = parseKubeconfig(
    {
      clusters: [
        { name: 'k', cluster: { server: 'https://second', 'tls-server-name': 'x' } },
        { name: 'other', cluster: { server: 'https://other' } },
      ],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'c', context: { cluster: 'other', user: 'u' } }],
      extensions: [{ name: 'e', extension: 2 }],
      'current-context': 'second',
    },
    '/b',
  )
  const third = parseKubeconfig({ 'current-context': 'third' }, '/c')
  const merged = mergeKubeconfigs([first, second, third])

  it('are merged by entry: the first of each name wins', () => {
    expect(merged.clusters.get('k')).toBe(first.clusters.get('k'))
    expect(merged.users.get('u')).toBe(first.users.get('u'))
    expect(merged.contexts.get('c')).toBe(first.contexts.get('c'))
    expect(merged.extensions.get('e')).toBe(1)
  })

  it('contribute entries that keep their file', () => {
    expect(merged.clusters.get('other')?.file).toBe('/b')
  })

  it('have the first current-context that is set', () => {
    expect(merged.currentContext).toBe('second')
  })

  it('are all listed', () => {
    expect(merged.files).toEqual(['/a', '/b', '/c'])
  })
})
