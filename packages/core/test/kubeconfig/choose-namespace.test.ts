import { describe, expect, it } from 'vitest'
import { stripNamespacePrefix } from '../../src/kubeconfig/select-entries.ts'
import { AROUND, connectionWith, thrownBy } from './build-test-connection.ts'

describe('the namespace', () => {
  it.each([
    { name: 'is that of the option', option: 'f', context: 'c', pod: 'p', is: 'f' },
    {
      name: 'is that of the context without an option',
      option: undefined,
      context: 'c',
      pod: 'p',
      is: 'c',
    },
    { name: 'is that of the pod without a context', option: '', context: '', pod: 'p', is: 'p' },
    { name: 'is default otherwise', option: '', context: '', pod: undefined, is: 'default' },
    {
      name: 'can be default in a context',
      option: '',
      context: 'default',
      pod: 'p',
      is: 'default',
    },
    { name: 'has no prefix', option: 'ns/f', context: 'c', pod: 'p', is: 'f' },
    { name: 'is not set by a prefix alone', option: 'ns/', context: 'c', pod: 'p', is: 'c' },
    {
      name: 'is not validated in the context if there is an option',
      option: 'f',
      context: 'NO',
      pod: 'p',
      is: 'f',
    },
  ])('$name', ({ option, context, pod, is }) => {
    const around = { ...AROUND, podNamespace: pod }
    const made = connectionWith({ context: { namespace: context } }, { namespace: option }, around)
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
  ])('option %s means %s', (given, name) => {
    expect(stripNamespacePrefix(given)).toBe(name)
  })
})
