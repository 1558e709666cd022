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
const parametersOf = (config: object) => {
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
    expect(parametersOf(SEED)).toEqual(SEED)
  })

  it('does not show its values', () => {
    const values = { pin: 'marked-pin', note: 'marked-note' }
    expectNoLeak([read({ ...SEED, ...values })], Object.values(values))
  })

  it.each([
    ['signer', 'signer'],
    ['./signer', '/home/ann/.kube/signer'],
    ['../bin/signer', '/home/ann/bin/signer'],
    ['~/signer', '/home/ann/.kube/~/signer'],
    ['/bin/signer', '/bin/signer'],
  ])('resolves pathExec %s like exec.command', (pathExec, command) => {
    expect(read({ pathExec }).user.externalSigner?.at).toEqual({ kind: 'program', command })
    expect(parametersOf({ pathExec })).toEqual({ pathExec: command })
  })

  it.each([
    ['s.sock', '/home/ann/.kube/s.sock'],
    ['/run/s.sock', '/run/s.sock'],
  ])('resolves pathSocket %s relative to the kubeconfig', (pathSocket, path) => {
    expect(read({ pathSocket }).user.externalSigner?.at).toEqual({ kind: 'socket', path })
  })

  it('does not resolve paths that the signer itself reads', () => {
    expect(parametersOf({ pathExec: '/s', pathLib: './lib.so' })).toEqual({
      pathExec: '/s',
      pathLib: './lib.so',
    })
  })

  it.each([
    ['2020', 'reference2020'],
    ['v1alpha1', 'specification'],
    ['', 'specification'],
  ])('uses the protocol of signerProtocol %j', (signerProtocol, protocol) => {
    expect(read({ ...SEED, signerProtocol }).user.externalSigner?.protocol).toBe(protocol)
  })

  it.each([
    ['no path', {}, 'pathExec is missing', 'pathSocket'],
    ['an empty path', { pathExec: '' }, 'pathExec is missing', 'pathSocket'],
    ['two paths', { ...SEED, pathSocket: '/s' }, 'both pathExec and pathSocket', 'Remove one'],
    ['another protocol', { ...SEED, signerProtocol: '2' }, 'signerProtocol', '"2020"'],
  ])('with %s is an error that has the entry and the parameter', (_, config, says, hints) => {
    const error = thrownBy(() => read(config))
    expect(error).toMatchObject({
      code: 'ERR_SIGNER_CONFIG',
      message: expect.stringMatching(
        /^user "u" in "\/home\/ann\/.kube\/config" has an invalid auth-prov/,
      ),
      hint: expect.stringContaining(hints),
    })
    expect(error.message).toContain(says)
    expectNoLeak([error], ['123456', 'library'])
  })

  it.each(['slotId: 0', 'pin: 123456', 'pin: 0123', 'pin: true', 'pin: 1e3', 'pin: [a]'])(
    'with the unquoted %s is an error without the value',
    (line) => {
      const text = `users: [{name: u, user: {auth-provider: {name: externalSigner, config: {${line}}}}}]`
      // An error only if this user is selected.
      const [user] = parseKubeconfigText(text, '/k').users.values()
      const error = thrownBy(() => externalSignerConfig(user ?? NO_USER))
      const [name] = line.split(':')
      expect(error).toMatchObject({
        code: 'ERR_SIGNER_CONFIG',
        message: expect.stringContaining(
          `users[0] "u".auth-provider.config.${name} must be a string`,
        ),
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
  ])('is replaced by %o with a warning, even if it is invalid', (method, warning) => {
    const { user, warnings } = read({}, method)
    expect(user.externalSigner).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining(warning)])
  })

  it('is not used over plain http, or with a token or certificate from options', () => {
    const user = signer(SEED)
    const plain = connectionWith({ user, cluster: { server: 'http://k' } })
    expect(plain.user.externalSigner).toBeUndefined()
    expect(plain.warnings).toEqual([expect.stringContaining('not sent')])
    for (const flags of [{ token: 't' }, { clientCertificate: '/c', clientKey: '/k' }]) {
      expect(connectionWith({ user }, flags).user.externalSigner).toBeUndefined()
    }
  })
})
