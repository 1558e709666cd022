import { describe, expect, it } from 'vitest'
import { base64, connectionWith, thrownBy } from './build-test-connection.ts'

const CA = base64('-----BEGIN CERTIFICATE-----')
const fromFile = (path: string) => ({ from: 'file', path })

describe('options that override a cluster', () => {
  it.each([
    {
      name: '--insecure-skip-tls-verify removes the CA',
      cluster: { 'certificate-authority-data': CA },
      flags: { insecureSkipTlsVerify: true },
      is: { insecureSkipTlsVerify: true, certificateAuthority: undefined },
    },
    {
      name: '--certificate-authority removes inline data',
      cluster: { 'certificate-authority-data': CA },
      flags: { certificateAuthority: 'ca.crt' },
      is: { certificateAuthority: fromFile('/here/ca.crt') },
    },
    {
      name: '--certificate-authority removes insecure-skip-tls-verify',
      cluster: { 'insecure-skip-tls-verify': true },
      flags: { certificateAuthority: '/ca.crt' },
      is: { insecureSkipTlsVerify: false, certificateAuthority: fromFile('/ca.crt') },
    },
    {
      name: '--insecure-skip-tls-verify=false enables verification again',
      cluster: { 'insecure-skip-tls-verify': true },
      flags: { insecureSkipTlsVerify: false },
      is: { insecureSkipTlsVerify: false },
    },
    {
      name: 'trust does not change without a flag',
      cluster: { 'insecure-skip-tls-verify': true },
      flags: {},
      is: { insecureSkipTlsVerify: true },
    },
    {
      name: '--tls-server-name replaces the name of the entry',
      cluster: { 'tls-server-name': 'old' },
      flags: { tlsServerName: 'new' },
      is: { tlsServerName: 'new' },
    },
    {
      name: '--server alone removes tls-server-name',
      cluster: { 'tls-server-name': 'old' },
      flags: { server: 'https://other' },
      is: { server: 'https://other', tlsServerName: undefined },
    },
    {
      name: '--server keeps a --tls-server-name given beside it',
      cluster: { 'tls-server-name': 'old' },
      flags: { server: 'https://other', tlsServerName: 'new' },
      is: { server: 'https://other', tlsServerName: 'new' },
    },
    {
      name: '--disable-compression sets the field',
      cluster: {},
      flags: { disableCompression: true },
      is: { disableCompression: true },
    },
  ])('$name', ({ cluster, flags, is }) => {
    const target = connectionWith({ cluster }, flags).cluster
    expect({ ...is, ...target }).toEqual({ ...target, ...is })
  })

  it('--proxy-url replaces the URL of the entry and is a secret', () => {
    const { cluster } = connectionWith(
      { cluster: { 'proxy-url': 'http://old' } },
      { proxyUrl: 'socks5://u:pass@new:1080' },
    )
    expect(cluster.proxyUrl?.expose()).toBe('socks5://u:pass@new:1080')
    expect(JSON.stringify(cluster)).not.toContain('pass')
  })

  it('--insecure-skip-tls-verify cannot be combined with --certificate-authority', () => {
    const flags = { insecureSkipTlsVerify: true, certificateAuthority: '/ca' }
    expect(thrownBy(() => connectionWith({}, flags)).message).toBe(
      'option insecureSkipTlsVerify cannot be combined with option certificateAuthority',
    )
  })
})

const EXEC = { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'plugin' }

describe('options that override a user', () => {
  it.each([
    { name: 'a token', user: { token: 'old' } },
    { name: 'a token file', user: { tokenFile: 'f' } },
    { name: 'a plugin', user: { exec: EXEC } },
    { name: 'a broken plugin', user: { exec: {} } },
    { name: 'basic', user: { username: 'ann', password: 'p' } },
    { name: 'an auth-provider', user: { 'auth-provider': { name: 'gcp' } } },
  ])('--token replaces $name', ({ user }) => {
    const made = connectionWith({ user }, { token: 'new' })
    expect(Object.keys(made.user).sort()).toEqual(['name', 'token'])
    expect(made.user.token?.expose()).toBe('new')
    expect(made.warnings).toEqual([])
  })

  it('--token keeps a client certificate, with a warning that the server may prefer it', () => {
    const user = { 'client-certificate': 'c', 'client-key': 'k' }
    const made = connectionWith({ user }, { token: 'new' })
    expect(made.user.certificate?.chain).toEqual(fromFile('/home/ann/.kube/c'))
    expect(made.warnings).toEqual([expect.stringContaining('may prefer the certificate')])
  })

  it.each([
    { name: 'a token', user: { token: 'old' } },
    { name: 'a token file', user: { tokenFile: 'f' } },
    { name: 'a plugin', user: { exec: EXEC } },
  ])('--username and --password replace $name', ({ user }) => {
    const made = connectionWith({ user }, { username: 'ann', password: 'p' })
    expect(Object.keys(made.user).sort()).toEqual(['basic', 'name'])
    expect(made.user.basic?.password.expose()).toBe('p')
  })

  it('--password alone is combined with the user name of the entry', () => {
    const user = { username: 'ann', password: 'old' }
    const { basic } = connectionWith({ user }, { password: 'new' }).user
    expect([basic?.username, basic?.password.expose()]).toEqual(['ann', 'new'])
  })

  it('--token cannot be combined with --username', () => {
    const error = thrownBy(() => connectionWith({}, { token: 't', username: 'ann' }))
    expect(error.message).toBe('option token cannot be combined with option username')
  })

  it('--client-certificate and --client-key replace file and data', () => {
    const data = { 'client-certificate-data': base64('c'), 'client-key-data': base64('k') }
    const flags = { clientCertificate: 'new.crt', clientKey: '/new.key' }
    const pair = { chain: fromFile('/here/new.crt'), key: fromFile('/new.key') }
    expect(connectionWith({ user: data }, flags).user.certificate).toEqual(pair)
    const files = { 'client-certificate': 'c', 'client-key': 'k' }
    expect(connectionWith({ user: files }, flags).user.certificate).toEqual(pair)
  })

  it('--client-certificate alone keeps the key of the entry', () => {
    const user = { 'client-certificate-data': base64('c'), 'client-key': 'k' }
    expect(connectionWith({ user }, { clientCertificate: '/c' }).user.certificate).toEqual({
      chain: fromFile('/c'),
      key: fromFile('/home/ann/.kube/k'),
    })
  })

  it('impersonation is merged field by field', () => {
    const user = {
      as: 'ann',
      'as-uid': '1',
      'as-groups': ['g'],
      'as-user-extra': { a: ['1'], b: ['2'] },
    }
    const flags = { as: 'bob', asGroups: ['h', 'i'], asUserExtra: { b: ['3'] } }
    expect(connectionWith({ user }, flags).user.impersonate).toEqual({
      user: 'bob',
      uid: '1',
      groups: ['h', 'i'],
      extra: { a: ['1'], b: ['3'] },
    })
    expect(connectionWith({}, { as: 'bob', asUid: '7' }).user.impersonate).toEqual({
      user: 'bob',
      uid: '7',
      groups: [],
      extra: {},
    })
  })
})
