import { describe, expect, it } from 'vitest'
import { externalSignerConfig } from '../../src/kubeconfig/external-signer-config.ts'
import { NO_USER } from '../../src/kubeconfig/kubeconfig.ts'
import { parseKubeconfigText } from '../../src/kubeconfig/parse-kubeconfig.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { connectionWith, thrownBy } from './build-test-connection.ts'

const SEED = {
  pathExec: '/path/to/externalSigner',
  pathLib: '/path/to/library.so',
  objectId: '2',
  slotId: '0',
  pin: '123456',
}
const signer = (config: object) => ({ 'auth-provider': { name: 'externalSigner', config } })
const read = (config: object, more: object = {}) =>
  connectionWith({ user: { ...signer(config), ...more } })
const told = (config: object) => {
  const { parameters } = read(config).user.externalSigner ?? {}
  return Object.fromEntries([...(parameters ?? [])].map(([name, value]) => [name, value.expose()]))
}

describe('auth-provider externalSigner', () => {
  it('becomes part of the user, with every parameter', () => {
    expect(read(SEED).user).toMatchObject({
      name: 'u',
      externalSigner: {
        at: { kind: 'program', command: '/path/to/externalSigner' },
        protocol: 'specification',
      },
    })
    expect(told(SEED)).toEqual(SEED)
  })

  it('shows none of its values', () => {
    const values = { pin: 'marked-pin', note: 'marked-note' }
    expectNoLeak([read({ ...SEED, ...values })], Object.values(values))
  })

  it.each([
    ['signer', 'signer'],
    ['./signer', '/home/ann/.kube/signer'],
    ['../bin/signer', '/home/ann/bin/signer'],
    ['~/signer', '/home/ann/.kube/~/signer'],
    ['/bin/signer', '/bin/signer'],
  ])('finds pathExec %s as exec.command is found', (pathExec, command) => {
    expect(read({ pathExec }).user.externalSigner?.at).toEqual({ kind: 'program', command })
    expect(told({ pathExec })).toEqual({ pathExec: command })
  })

  it.each([
    ['s.sock', '/home/ann/.kube/s.sock'],
    ['/run/s.sock', '/run/s.sock'],
  ])('finds pathSocket %s beside the kubeconfig', (pathSocket, path) => {
    expect(read({ pathSocket }).user.externalSigner?.at).toEqual({ kind: 'socket', path })
  })

  it('leaves paths of the signer alone', () => {
    expect(told({ pathExec: '/s', pathLib: './lib.so' })).toEqual({
      pathExec: '/s',
      pathLib: './lib.so',
    })
  })

  it.each([
    ['2020', 'reference2020'],
    ['v1alpha1', 'specification'],
    ['', 'specification'],
  ])('speaks as signerProtocol %j says', (signerProtocol, protocol) => {
    expect(read({ ...SEED, signerProtocol }).user.externalSigner?.protocol).toBe(protocol)
  })

  it.each([
    ['no place', {}, 'pathExec is missing', 'pathSocket'],
    ['an empty place', { pathExec: '' }, 'pathExec is missing', 'pathSocket'],
    ['two places', { ...SEED, pathSocket: '/s' }, 'both pathExec and pathSocket', 'Remove one'],
    ['another protocol', { ...SEED, signerProtocol: '2' }, 'signerProtocol', '"2020"'],
  ])('with %s is an error that names entry and parameter', (_, config, says, hints) => {
    const error = thrownBy(() => read(config))
    expect(error).toMatchObject({
      code: 'ERR_SIGNER_CONFIG',
      message: expect.stringMatching(/^user "u" in "\/home\/ann\/.kube\/config" has an auth-prov/),
      hint: expect.stringContaining(hints),
    })
    expect(error.message).toContain(says)
    expectNoLeak([error], ['123456', 'library'])
  })

  it.each(['slotId: 0', 'pin: 123456', 'pin: 0123', 'pin: true', 'pin: 1e3', 'pin: [a]'])(
    'with the unquoted %s is an error that says so, without the value',
    (line) => {
      const text = `users: [{name: u, user: {auth-provider: {name: externalSigner, config: {${line}}}}}]`
      // To be told to who chooses this user, and to nobody who chooses another.
      const [user] = parseKubeconfigText(text, '/k').users.values()
      const error = thrownBy(() => externalSignerConfig(user ?? NO_USER))
      const [name] = line.split(':')
      expect(error).toMatchObject({
        code: 'ERR_SIGNER_CONFIG',
        message: expect.stringContaining(`users[0] "u".auth-provider.config.${name} must be text`),
      })
      if (!line.includes('[')) expect(error.hint).toContain('quotes')
      expect(error.message).not.toContain('123')
    },
  )

  it.each([
    [{ token: 't' }, 'The auth-provider of user "u"'],
    [{ username: 'ann' }, 'The auth-provider of user "u"'],
    [{ tokenFile: 'f' }, 'The auth-provider of user "u"'],
    [{ 'client-certificate': '/c', 'client-key': '/k' }, 'The external signer of user "u"'],
  ])('yields to %o with a warning, even when it is wrong itself', (method, warning) => {
    const { user, warnings } = read({}, method)
    expect(user.externalSigner).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining(warning)])
  })

  it('is not used over plain http, nor with a token or certificate given by flag', () => {
    const user = signer(SEED)
    const plain = connectionWith({ user, cluster: { server: 'http://k' } })
    expect(plain.user.externalSigner).toBeUndefined()
    expect(plain.warnings).toEqual([expect.stringContaining('not sent')])
    for (const flags of [{ token: 't' }, { clientCertificate: '/c', clientKey: '/k' }]) {
      expect(connectionWith({ user }, flags).user.externalSigner).toBeUndefined()
    }
  })
})
