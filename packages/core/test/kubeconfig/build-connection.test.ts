import { describe, expect, it } from 'vitest'
import { buildConnection } from '../../src/kubeconfig/build-connection.ts'
import { parseKubeconfig } from '../../src/kubeconfig/parse-kubeconfig.ts'
import { AROUND, base64, configWith, connectionWith, FILE } from './build-test-connection.ts'

const EXEC = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'plugin' }
const CERTIFICATE = { 'client-certificate': '/c', 'client-key': '/k' }

describe('the server', () => {
  it.each([
    ['https://host', 'https://host'],
    ['https://host:6443/', 'https://host:6443'],
    ['https://host/k8s/clusters/c-1/', 'https://host/k8s/clusters/c-1'],
    ['https://host/path?query=1#fragment', 'https://host/path'],
    ['HTTPS://Host', 'https://host'],
    ['https://[fd00::1]:6443', 'https://[fd00::1]:6443'],
    ['http://localhost:8080', 'http://localhost:8080'],
  ])('%s becomes %s', (server, normal) => {
    const made = connectionWith({ cluster: { server } })
    expect(made.cluster.server).toBe(normal)
    expect(made.warnings).toEqual([])
  })

  it.each([
    { name: 'a token', user: { token: 't' }, cluster: {}, scheme: 'https' },
    { name: 'a plugin', user: { exec: EXEC }, cluster: {}, scheme: 'https' },
    { name: 'a CA', user: {}, cluster: { 'certificate-authority': 'ca' }, scheme: 'https' },
    { name: 'insecure', user: {}, cluster: { 'insecure-skip-tls-verify': true }, scheme: 'https' },
    { name: 'none of them', user: {}, cluster: {}, scheme: 'http' },
  ])(
    'without a scheme uses $scheme with $name, and there is a warning',
    ({ user, cluster, scheme }) => {
      const made = connectionWith({ user, cluster: { ...cluster, server: 'host:8443' } })
      expect(made.cluster.server).toBe(`${scheme}://host:8443`)
      expect(made.warnings).toEqual([
        expect.stringContaining(`has no scheme; ${scheme}:// is used`),
      ])
    },
  )

  it.each([
    { name: 'a token', user: { token: 't' } },
    { name: 'a token file', user: { tokenFile: 'f' } },
    { name: 'basic', user: { username: 'ann', password: 'p' } },
    { name: 'a certificate', user: CERTIFICATE },
    { name: 'a plugin', user: { exec: EXEC } },
    { name: 'an auth-provider', user: { 'auth-provider': { name: 'gcp' } } },
  ])('with http:// does not receive $name, and there is a warning', ({ user }) => {
    const made = connectionWith({ cluster: { server: 'http://h' }, user: { ...user, as: 'bob' } })
    expect(made.user).toEqual({
      name: 'u',
      impersonate: { user: 'bob', groups: [], extra: {} },
    })
    expect(made.warnings).toEqual([expect.stringMatching(/are not sent.*https:\/\//)])
  })
})

describe('the identity', () => {
  it('keeps an inline token as the fallback for a token file', () => {
    const made = connectionWith({ user: { token: 't', tokenFile: 'f' } })
    expect(made.user.token?.expose()).toBe('t')
    expect(made.user.tokenFile).toBe('/home/ann/.kube/f')
    expect(made.warnings).toEqual([])
  })

  it.each([
    { name: 'a token', user: { token: 't' } },
    { name: 'a token file', user: { tokenFile: 'f' } },
    { name: 'a user name', user: { username: 'ann' } },
    { name: 'a certificate with its key', user: CERTIFICATE },
  ])('uses $name instead of the plugin, with a warning', ({ user }) => {
    const made = connectionWith({ user: { ...user, exec: EXEC } })
    expect(made.user).not.toHaveProperty('exec')
    expect(made.warnings).toEqual([expect.stringContaining('exec plugin of user "u"')])
  })

  it.each([
    { name: 'a password alone', user: { password: 'p' }, warns: 'password' },
    { name: 'a key alone', user: { 'client-key': 'k' }, warns: 'client key' },
  ])('uses the plugin if there is only $name', ({ user, warns }) => {
    const made = connectionWith({ user: { ...user, exec: EXEC } })
    expect(Object.keys(made.user).sort()).toEqual(['exec', 'name'])
    expect(made.warnings).toEqual([expect.stringContaining(`The ${warns} of user "u"`)])
  })

  it('has no warning if options replace the plugin', () => {
    const flags = { clientCertificate: '/c', clientKey: '/k' }
    const made = connectionWith({ user: { exec: EXEC } }, flags)
    expect(made.user).not.toHaveProperty('exec')
    expect(made.warnings).toEqual([])
  })

  it('has certificate and key from inline data', () => {
    const user = { 'client-certificate-data': base64('C'), 'client-key-data': base64('K') }
    const { certificate } = connectionWith({ user }).user
    expect(certificate?.chain).toEqual({ from: 'data', data: 'C' })
    expect(certificate?.key.from === 'data' && certificate.key.data.expose()).toBe('K')
  })

  it('has the whole exec stanza, with an install hint without control characters', () => {
    const { exec } = connectionWith({
      user: {
        exec: {
          ...EXEC,
          command: './bin/plugin',
          args: ['--a', 'b'],
          env: [{ name: 'N', value: 'v' }, { name: 'E' }],
          installHint: '\u001b[1mbold\u001b[2J spaces ä € 1!\n',
          provideClusterInfo: true,
        },
      },
    }).user
    expect(exec).toMatchObject({
      apiVersion: EXEC.apiVersion,
      command: '/home/ann/.kube/bin/plugin',
      installHint: 'U+001B[1mboldU+001B[2J spaces ä € 1!\n',
      provideClusterInfo: true,
      interactiveMode: 'IfAvailable',
    })
    expect(exec?.args.map((arg) => arg.expose())).toEqual(['--a', 'b'])
    expect(exec?.env.map(({ name, value }) => [name, value.expose()])).toEqual([
      ['N', 'v'],
      ['E', ''],
    ])
  })

  it.each(['v1beta1', 'v1alpha1'])(
    'uses interactiveMode IfAvailable by default for %s',
    (version) => {
      const exec = { ...EXEC, apiVersion: `client.authentication.k8s.io/${version}` }
      expect(connectionWith({ user: { exec } }).user.exec?.interactiveMode).toBe('IfAvailable')
    },
  )
})

describe('the extension for plugins', () => {
  const name = 'client.authentication.k8s.io/exec'

  it('is client.authentication.k8s.io/exec, and others are ignored', () => {
    const extensions = [
      { name: 'other', extension: 1 },
      { name, extension: { audience: 'a' } },
    ]
    const { cluster } = connectionWith({ cluster: { extensions } })
    expect(cluster.execExtension).toEqual({ audience: 'a' })
  })

  it('is absent if it is null', () => {
    const { cluster } = connectionWith({ cluster: { extensions: [{ name, extension: null }] } })
    expect(cluster).not.toHaveProperty('execExtension')
  })

  it('is copied: two connections of one kubeconfig share no mutable object', () => {
    const config = configWith({
      cluster: { extensions: [{ name, extension: { list: [{ a: 1 }] } }] },
      user: {
        as: 'x',
        'as-groups': ['g'],
        'as-user-extra': { e: ['1'] },
        exec: { ...EXEC, args: ['a'], env: [{ name: 'N', value: 'v' }] },
      },
    })
    const [one, two] = [buildConnection(config, {}, AROUND), buildConnection(config, {}, AROUND)]
    expect(sharedObjects(one, two)).toEqual([])
  })
})

/** Returns the paths at which both values have the same object, except immutable secrets. */
function sharedObjects(one: unknown, two: unknown, path = ''): string[] {
  if (typeof one !== 'object' || one === null || one.constructor.name === 'Secret') return []
  if (one === two) return [path]
  return Object.entries(one).flatMap(([key, value]) =>
    sharedObjects(value, (two as Record<string, unknown>)[key], `${path}.${key}`),
  )
}

it('two clusters with one user have separate extensions', () => {
  const name = 'client.authentication.k8s.io/exec'
  const cluster = (label: string) => ({
    name: label,
    cluster: { server: `https://${label}`, extensions: [{ name, extension: label }] },
  })
  const config = parseKubeconfig(
    {
      clusters: [cluster('a'), cluster('b')],
      users: [{ name: 'u', user: { exec: EXEC } }],
      contexts: ['a', 'b'].map((label) => ({
        name: label,
        context: { cluster: label, user: 'u' },
      })),
    },
    FILE,
  )
  const made = ['a', 'b'].map((context) => buildConnection(config, { context }, AROUND))
  expect(made.map(({ cluster: { execExtension } }) => execExtension)).toEqual(['a', 'b'])
})
