import { describe, expect, it } from 'vitest'
import { buildSelectedConnection } from '../../src/kubeconfig/build-connection.ts'
import { inClusterConfig, type ServiceAccountFiles } from '../../src/kubeconfig/in-cluster.ts'
import type { Overrides } from '../../src/kubeconfig/overrides.ts'
import { AROUND } from './build-test-connection.ts'

const ENV = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
const FILES: ServiceAccountFiles = {
  tokenFile: '/sa/token',
  caFile: '/sa/ca.crt',
  ca: '-----BEGIN CERTIFICATE-----',
  namespace: 'from-file\n',
}

function connect(env = {}, files: Partial<ServiceAccountFiles> = {}, overrides: Overrides = {}) {
  const pod = inClusterConfig({ ...ENV, ...env }, { ...FILES, ...files })
  if (pod === undefined) throw new Error('not in a pod')
  return buildSelectedConnection(pod.selection, overrides, {
    ...AROUND,
    podNamespace: pod.namespace,
  })
}

describe('a pod', () => {
  it('connects with the token file and the CA of its service account', () => {
    expect(connect()).toEqual({
      namespace: 'from-file',
      cluster: {
        server: 'https://10.0.0.1',
        insecureSkipTlsVerify: false,
        disableCompression: false,
        certificateAuthority: { from: 'file', path: '/sa/ca.crt' },
      },
      user: { tokenFile: '/sa/token' },
      warnings: [],
      origin: 'in-cluster',
    })
  })

  it.each([
    { name: 'without a host', env: { KUBERNETES_SERVICE_HOST: '' }, files: {} },
    { name: 'without a port', env: { KUBERNETES_SERVICE_PORT: undefined }, files: {} },
    { name: 'without a token', env: {}, files: { tokenFile: undefined } },
  ])('has no in-cluster configuration $name', ({ env, files }) => {
    expect(inClusterConfig({ ...ENV, ...env }, { ...FILES, ...files })).toBeUndefined()
  })

  it.each([
    ['fd00::1', '6443', 'https://[fd00::1]:6443'],
    ['[fd00::1]', '6443', 'https://[fd00::1]:6443'],
    ['kubernetes.default', '8443', 'https://kubernetes.default:8443'],
  ])('reaches %s port %s at %s', (host, port, server) => {
    const env = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }
    expect(connect(env).cluster.server).toBe(server)
  })

  it.each([undefined, '', 'not pem'])(
    'uses the system roots if the CA is %j, with a warning',
    (ca) => {
      const made = connect({}, { ca })
      expect(made.cluster).not.toHaveProperty('certificateAuthority')
      expect(made.warnings).toEqual([expect.stringContaining('/sa/ca.crt')])
    },
  )

  it.each([
    { env: { POD_NAMESPACE: 'from-env' }, files: {}, is: 'from-env' },
    { env: {}, files: {}, is: 'from-file' },
    { env: {}, files: { namespace: undefined }, is: 'default' },
    { env: {}, files: { namespace: ' \n' }, is: 'default' },
  ])('is in the namespace $is', ({ env, files, is }) => {
    expect(connect(env, files).namespace).toBe(is)
  })

  it('is overridden by options: server, CA, token, namespace, impersonation', () => {
    const flags = { server: 'https://s', certificateAuthority: '/ca', namespace: 'n', as: 'bob' }
    const made = connect({}, {}, { ...flags, token: 't' })
    expect(made.cluster.server).toBe('https://s')
    expect(made.cluster.certificateAuthority).toEqual({ from: 'file', path: '/ca' })
    expect(made.user).not.toHaveProperty('tokenFile')
    expect(made.user.token?.expose()).toBe('t')
    expect(made.user.impersonate?.user).toBe('bob')
    expect(made.namespace).toBe('n')
  })

  it('rejects an invalid address', () => {
    expect(() => connect({ KUBERNETES_SERVICE_PORT: 'x' })).toThrow('options or environment')
  })
})
