import { describe, expect, it } from 'vitest'
import { stripNamespacePrefix } from '../../src/kubeconfig/select-entries.ts'
import { AROUND, connectionWith, thrownBy } from './build-test-connection.ts'

describe('the namespace', () => {
  it.each([
    { name: 'is the one of the flag', flag: 'f', context: 'c', pod: 'p', is: 'f' },
    { name: 'is then the one of the context', flag: undefined, context: 'c', pod: 'p', is: 'c' },
    { name: 'is then the one of the pod', flag: '', context: '', pod: 'p', is: 'p' },
    { name: 'is default in the end', flag: '', context: '', pod: undefined, is: 'default' },
    { name: 'may be default on purpose', flag: '', context: 'default', pod: 'p', is: 'default' },
    { name: 'loses the prefix of the flag', flag: 'ns/f', context: 'c', pod: 'p', is: 'f' },
    { name: 'is not set by a bare prefix', flag: 'ns/', context: 'c', pod: 'p', is: 'c' },
    { name: 'hides a wrong one behind the flag', flag: 'f', context: 'NO', pod: 'p', is: 'f' },
  ])('$name', ({ flag, context, pod, is }) => {
    const around = { ...AROUND, podNamespace: pod }
    const made = connectionWith({ context: { namespace: context } }, { namespace: flag }, around)
    expect(made.namespace).toBe(is)
  })

  it.each(['Upper', 'under_score', '-a', 'a-', 'a.b', 'a/b', 'a b', 'ä', 'x'.repeat(64)])(
    'cannot be %s',
    (namespace) => {
      const error = thrownBy(() => connectionWith({}, { namespace }))
      expect(error.code).toBe('ERR_KUBECONFIG_INVALID')
      expect(error.message).toContain('option namespace is not a DNS-1123 label')
    },
  )

  it.each([
    ['ns/a', 'a'],
    ['NS/a', 'a'],
    ['namespace/a', 'a'],
    ['Namespaces/a', 'a'],
    ['pods/a', 'pods/a'],
    ['a', 'a'],
  ])('flag %s means %s', (given, name) => {
    expect(stripNamespacePrefix(given)).toBe(name)
  })
})
