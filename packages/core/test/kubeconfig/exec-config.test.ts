import { describe, expect, it } from 'vitest'
import {
  API_VERSIONS,
  INTERACTIVE_MODES,
  isApiVersion,
  isInteractiveMode,
} from '../../src/kubeconfig/exec-config.ts'

describe('the API versions', () => {
  it.each(API_VERSIONS)('include %s', (version) => {
    expect(isApiVersion(version)).toBe(true)
  })

  it.each([
    '',
    'v1',
    'client.authentication.k8s.io/v2',
    'client.authentication.k8s.io/V1',
    'client.authentication.k8s.io/v1 ',
    'client.authentication.k8s.io/__internal',
    'toString',
  ])('do not include %j', (version) => {
    expect(isApiVersion(version)).toBe(false)
  })

  it('start with the newest, which errors suggest first', () => {
    expect(API_VERSIONS[0]).toBe('client.authentication.k8s.io/v1')
  })
})

describe('the interactive modes', () => {
  it.each(INTERACTIVE_MODES)('include %s', (mode) => {
    expect(isInteractiveMode(mode)).toBe(true)
  })

  it.each(['', 'never', 'ALWAYS', 'IfAvailable ', 'constructor'])('do not include %j', (mode) => {
    expect(isInteractiveMode(mode)).toBe(false)
  })
})
