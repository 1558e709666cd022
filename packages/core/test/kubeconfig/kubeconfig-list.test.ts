import { describe, expect, it } from 'vitest'
import { splitKubeconfigList } from '../../src/kubeconfig/paths.ts'

describe('KUBECONFIG', () => {
  it.each([
    { value: '/a:/b', separator: ':', is: ['/a', '/b'] },
    { value: ':/a::/b:', separator: ':', is: ['/a', '/b'] },
    { value: '/a:/b:/a:./a', separator: ':', is: ['/a', '/b', './a'] },
    { value: ':::', separator: ':', is: [] },
    { value: 'C:\\a;D:\\b', separator: ';', is: ['C:\\a', 'D:\\b'] },
    { value: '"C:\\a;b";;D:\\c', separator: ';', is: ['C:\\a;b', 'D:\\c'] },
  ])('$value lists $is', ({ value, separator, is }) => {
    expect(splitKubeconfigList(value, separator)).toEqual(is)
  })
})
