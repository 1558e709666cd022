import { describe, expect, it } from 'vitest'
import {
  isLoaderVariable,
  pluginEnvironment,
  signerEnvironment,
} from '../../src/plugin/plugin-environment.ts'

const HOST = {
  PATH: '/bin',
  UNSET: undefined,
  EXTERNAL_SIGNER_PLUGIN_CONFIG: '{"pin":"4711"}',
  KUBECRED_SIGNER_MESSAGE: 'AA==',
  KUBECRED_SIGNER_FD: '3',
  KUBECRED_PKCS11_PIN: '4711',
  KUBECRED_PKCS11_PIN_WORK: '4712',
  KUBECRED_PKCS11_PINS: '4713',
  kubecred_pkcs11_pin_lower: '4714',
  KUBECRED_PKCS11_MODULES: '/lib/p11.so',
}

describe('of the host variables', () => {
  it('a plugin sees neither PINs nor requests to signers', () => {
    expect(pluginEnvironment(HOST)).toEqual({
      PATH: '/bin',
      KUBECRED_PKCS11_MODULES: '/lib/p11.so',
    })
  })

  it('a plugin does not see PINs even if passEnv names them', () => {
    expect(pluginEnvironment(HOST, ['PATH', 'KUBECRED_PKCS11_PIN', 'KUBECRED_SIGNER_FD'])).toEqual({
      PATH: '/bin',
    })
  })

  it('a signer sees PINs, but no request to another signer', () => {
    expect(Object.keys(signerEnvironment(HOST))).toEqual([
      'PATH',
      'KUBECRED_PKCS11_PIN',
      'KUBECRED_PKCS11_PIN_WORK',
      'KUBECRED_PKCS11_PINS',
      'kubecred_pkcs11_pin_lower',
      'KUBECRED_PKCS11_MODULES',
    ])
    expect(signerEnvironment(HOST, ['KUBECRED_PKCS11_PIN', 'KUBECRED_SIGNER_FD'])).toEqual({
      KUBECRED_PKCS11_PIN: '4711',
    })
  })
})

describe('a variable that can load other code', () => {
  it.each([
    'LD_PRELOAD',
    'ld_library_path',
    'DYLD_INSERT_LIBRARIES',
    'BASH_FUNC_ls%%',
    'NODE_OPTIONS',
    'node_options',
    '_JAVA_OPTIONS',
  ])('is recognised: %s', (name) => {
    expect(isLoaderVariable(name)).toBe(true)
  })

  it.each(['PATH', 'OLD_LD_PATH', 'NODE_OPTIONS_2', 'HOME', ''])('is not %s', (name) => {
    expect(isLoaderVariable(name)).toBe(false)
  })
})
