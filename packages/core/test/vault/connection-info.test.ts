import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { ConnectionFields } from '../../src/vault/connection-fields.ts'
import { ConnectionInfo } from '../../src/vault/connection-info.ts'

const server = 'https://localhost:6443/base/'
const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const problemsOf = (fields: object): readonly string[] => {
  try {
    new ConnectionInfo(fields as ConnectionFields)
  } catch (error) {
    return (error as { problems: readonly string[] }).problems
  }
  return []
}

describe('a ConnectionInfo', () => {
  it('needs nothing but a server, and is anonymous then', () => {
    const {
      login,
      server: normal,
      priority,
      expiresAt,
      defaultNamespace,
    } = new ConnectionInfo({ server })
    expect({ normal, priority, expiresAt, defaultNamespace }).toEqual({
      normal: 'https://localhost:6443/base',
      priority: 0,
      expiresAt: undefined,
      defaultNamespace: 'default',
    })
    expect(login.connection.user).toEqual({})
    expect(login.trustEnv).toBe(false)
  })

  it.each([
    ['PEM text', pem],
    ['PEM bytes', new TextEncoder().encode(pem)],
    ['base64 text', btoa(pem)],
    ['base64 bytes', new TextEncoder().encode(btoa(pem))],
    ['PEM with a preamble', `subject=one\n${pem}`],
  ])('takes a CA as %s', (_, caData) => {
    const { certificateAuthority } = new ConnectionInfo({ server, caData }).login.connection.cluster
    expect(certificateAuthority).toMatchObject({ from: 'data', data: expect.stringContaining(pem) })
  })

  it.each([
    ['a Date', new Date(1000), 1000],
    ['text with a zone', '1970-01-01T01:00:01+01:00', 1000],
    ['text without a zone, which is UTC', '1970-01-01T00:00:01', 1000],
    ['text as databases write it', '1970-01-01 00:00:01', 1000],
    ['a date, which is its first moment', '2030-12-31', Date.UTC(2030, 11, 31)],
    ['milliseconds since the epoch', 1_924_992_000_000, 1_924_992_000_000],
    ["no end in Go's words", '0001-01-01T00:00:00Z', undefined],
  ])('expires at %s', (_, expiration, expected) => {
    expect(new ConnectionInfo({ server, expiration }).expiresAt).toBe(expected)
  })

  it.each([
    ['no server', {}, 'server is missing'],
    ['a server without a scheme', { server: 'localhost' }, /^server is not an http/],
    [
      'path and data of a CA',
      { server, caPath: '/ca', caData: pem },
      /^caPath and caData are both given/,
    ],
    [
      'path and data of a certificate',
      { server, certificatePath: '/c', certificateData: pem, privateKeyPath: '/k' },
      /^certificatePath and certificateData are both given/,
    ],
    [
      'path and data of a key',
      { server, certificatePath: '/c', privateKeyPath: '/k', privateKeyData: pem },
      /^privateKeyPath and privateKeyData are both given/,
    ],
    ['garbage as a CA', { server, caData: '%%%' }, 'caData is neither PEM nor base64 of PEM'],
    ['an empty CA', { server, caData: '' }, 'caData is neither PEM nor base64 of PEM'],
    ['an empty token', { server, token: '' }, 'token is empty'],
    ['a token with a line break', { server, token: 'a\nb' }, /^token has a character/],
    [
      'a certificate without a key',
      { server, certificatePath: '/c' },
      'the certificate has no private key',
    ],
    [
      'a key without a certificate',
      { server, privateKeyPath: '/k' },
      'the private key has no certificate',
    ],
    ['a username without a password', { server, username: 'u' }, 'username has no password'],
    ['a number as token', { server, token: 5 }, 'token is not a string'],
    ['text as a flag', { server, insecure: 'yes' }, 'insecure is not true or false'],
    ['a string as priority', { server, priority: 'high' }, 'priority is not a number'],
    ['an invalid time', { server, expiration: 'tomorrow' }, /^expiration is not a time/],
    ['an invalid date', { server, expiration: '2030-02-30' }, /^expiration is not a time/],
    [
      'seconds',
      { server, expiration: 1_924_992_000 },
      /^expiration is a number of seconds: pass mi/,
    ],
    ['the number 0', { server, expiration: 0 }, /^expiration is not a time/],
    ['NaN', { server, expiration: Number.NaN }, /^expiration is not a time/],
    ['an invalid Date', { server, expiration: new Date('x') }, /^expiration is not a time/],
    [
      'a field in the words of another language',
      { server, ca_path: '/ca' },
      'there is no field "ca_path"',
    ],
    ['a token over plain http', { server: 'http://one', token: 't' }, /^server is plain http/],
  ])('is rejected with %s, and names the field', (_, fields, expected) => {
    expect(problemsOf(fields)).toEqual([
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    ])
  })

  it('reports all its problems at once', () => {
    expect(problemsOf({ token: '', insecure: 1 })).toHaveLength(3)
  })

  it.each([null, 'text', 5, [], true])('is not made from %j', (value) => {
    expect(() => ConnectionInfo.from(value)).toThrow(/must return a ConnectionInfo or nothing/)
  })

  it('shows no secret, however it is printed', () => {
    const secrets = {
      token: 'hush-1',
      password: 'hush-2',
      scheme: 'hush-3',
      proxyUrl: 'http://u:hush-4@p',
    }
    const info = new ConnectionInfo({ server, username: 'u', ...secrets })
    const printed = [
      inspect(info, { depth: 9, showHidden: true }),
      JSON.stringify(info),
      String(info),
      `${info}`,
    ]
    expect(printed.join()).not.toContain('hush')
    expect(JSON.stringify(info)).toContain('"token":"[secret]"')
  })
})

describe('what a handler returns', () => {
  it('is never taken for a login that was checked before', () => {
    const sneaky = { connection: {}, expiresAt: 0, priority: 0, trustEnv: true, scheme: undefined }
    expect(() => ConnectionInfo.from(sneaky)).toThrow('there is no field "connection"')
  })
})
