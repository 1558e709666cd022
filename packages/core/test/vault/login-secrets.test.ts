import { describe, expect, it } from 'vitest'
import type { Credential } from '../../src/credential/credential.ts'
import { Secret } from '../../src/secret/secret.ts'
import type { ConnectionFields } from '../../src/vault/connection-fields.ts'
import { isSame, loginSecrets } from '../../src/vault/login-source.ts'
import { readFields } from '../../src/vault/read-connection-info.ts'

const server = 'https://one.test'
const pem = (name: string) => `-----BEGIN ${name}-----\nAAAA\n-----END ${name}-----\n`
const secretsOf = (fields: Partial<ConnectionFields>) =>
  loginSecrets(readFields({ server, ...fields })).map((secret) => secret.expose())

describe('the secrets of a login', () => {
  const key = pem('PRIVATE KEY')
  const certificateData = pem('CERTIFICATE')

  it.each<[string, Partial<ConnectionFields>, readonly string[]]>([
    ['none', {}, []],
    ['a token', { token: 't' }, ['t']],
    ['a password', { username: 'u', password: 'p' }, ['p']],
    ['a key', { certificateData, privateKeyData: key }, [key]],
    ['not the path of a key', { certificatePath: '/c', privateKeyPath: '/k' }, []],
    ['a scheme that may be a whole header', { scheme: 'ApiKey 1234' }, ['ApiKey 1234']],
    ['not a scheme of at most ten letters', { scheme: 'ABCDEFGHIJ', token: 't' }, ['t']],
    ['the URL of a proxy', { proxyUrl: 'http://p:80' }, ['http://p:80']],
    [
      'the password of a proxy, encoded and decoded',
      { proxyUrl: 'http://u:a%20b@p:80' },
      ['http://u:a%20b@p:80', 'a%20b', 'a b'],
    ],
    [
      'the password of a proxy that has no user name',
      { proxyUrl: 'http://:pw@p:80' },
      ['http://:pw@p:80', 'pw', 'pw'],
    ],
  ])('are %s', (_, fields, expected) => {
    expect(secretsOf(fields)).toEqual(expected)
  })

  it('have the password of a proxy as it is if it cannot be decoded', () => {
    const login = readFields({ server })
    const proxyUrl = new Secret('http://u:100%@p:80')
    const cluster = { ...login.connection.cluster, proxyUrl }
    const shown = loginSecrets({ ...login, connection: { ...login.connection, cluster } })
    expect(shown.map((secret) => secret.expose())).toEqual(['http://u:100%@p:80', '100%', '100%'])
  })
})

describe('two credentials are the same to a server', () => {
  const pairOf = (chain: string) => ({ chain, key: new Secret('k'), notBefore: 0, notAfter: 1 })
  const basicOf = (password: string) => ({ username: 'u', password: new Secret(password) })
  const one: Credential = {
    token: new Secret('t'),
    certificate: pairOf('c'),
    basic: basicOf('p'),
  }

  it('if token, certificate and password are', () => {
    expect(isSame(one, { ...one, token: new Secret('t'), basic: basicOf('p') })).toBe(true)
    expect(isSame({}, {})).toBe(true)
  })

  it.each<[string, Credential | undefined]>([
    ['there is no other', undefined],
    ['the token differs', { ...one, token: new Secret('u') }],
    ['the certificate differs', { ...one, certificate: pairOf('d') }],
    ['the password differs', { ...one, basic: basicOf('q') }],
    ['one is anonymous', {}],
  ])('but not if %s', (_, other) => {
    expect(isSame(one, other)).toBe(false)
    if (other !== undefined) expect(isSame(other, one)).toBe(false)
  })
})
