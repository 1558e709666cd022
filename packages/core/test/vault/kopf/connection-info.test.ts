// After kopf's tests/authentication/test_connectioninfo.py; what contradicts itself is in ../connection-info.test.ts.
import { describe, expect, it } from 'vitest'
import { ConnectionInfo } from '../../../src/vault/connection-info.ts'

const server = 'https://localhost'
const pem = (label: string, body: string) =>
  `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`
const CA = pem('CERTIFICATE', 'AAAA')
const CERTIFICATE = pem('CERTIFICATE', 'BBBB')
const KEY = pem('PRIVATE KEY', 'CCCC')

describe('a ConnectionInfo', () => {
  it('keeps every field', () => {
    const info = new ConnectionInfo({
      server,
      insecure: true,
      tlsServerName: 'name',
      username: 'user',
      password: 'pass',
      scheme: 'scheme',
      token: 'token',
      defaultNamespace: 'default-ns',
      proxyUrl: 'http://proxy:3128',
      trustEnv: true,
      priority: 123,
      expiration: '2100-01-01T00:00:00Z',
    })
    const { connection, scheme, trustEnv } = info.login
    expect(info).toMatchObject({
      server,
      defaultNamespace: 'default-ns',
      priority: 123,
      expiresAt: Date.UTC(2100, 0, 1),
    })
    expect({ scheme, trustEnv }).toEqual({ scheme: 'scheme', trustEnv: true })
    expect(connection.cluster).toMatchObject({ insecureSkipTlsVerify: true, tlsServerName: 'name' })
    expect(connection.cluster.proxyUrl?.expose()).toBe('http://proxy:3128')
    const { basic, token } = connection.user
    expect([basic?.username, basic?.password.expose(), token?.expose()]).toEqual([
      'user',
      'pass',
      'token',
    ])
  })

  it('accepts certificates and key as data, without a file', () => {
    const { cluster, user } = new ConnectionInfo({
      server,
      caData: CA,
      certificateData: CERTIFICATE,
      privateKeyData: KEY,
    }).login.connection
    expect(cluster.certificateAuthority).toMatchObject({ from: 'data', data: CA })
    expect(user.certificate?.chain).toMatchObject({ from: 'data', data: CERTIFICATE })
    const { key } = user.certificate ?? {}
    expect(key?.from === 'data' && key.data.expose()).toBe(KEY)
  })

  it('accepts certificates and key as paths, without data', () => {
    const { cluster, user } = new ConnectionInfo({
      server,
      caPath: '/ca/path',
      certificatePath: '/cert/path',
      privateKeyPath: '/pkey/path',
    }).login.connection
    expect(cluster.certificateAuthority).toMatchObject({ from: 'file', path: '/ca/path' })
    expect(user.certificate).toMatchObject({
      chain: { from: 'file', path: '/cert/path' },
      key: { from: 'file', path: '/pkey/path' },
    })
  })

  it('cannot be changed through the object it was made from, or by its holder', () => {
    const fields = { server, token: 'one' }
    const info = new ConnectionInfo(fields)
    fields.token = 'two'
    expect(info.login.connection.user.token?.expose()).toBe('one')
    expect(() => Object.assign(info, { server: 'https://elsewhere' })).toThrow(TypeError)
  })
})
