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
    ['base64 text with a line break at its end', `${btoa(pem)}\n`],
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
    ['the first milliseconds that are not seconds', 100_000_000_000, 100_000_000_000],
    ['a Date of another realm', { getTime: (): number => 1000 }, 1000],
    ['text between spaces', ' 1970-01-01 00:00:01 ', 1000],
    ["no end in Go's words", '0001-01-01T00:00:00Z', undefined],
  ])('expires at %s', (_, expiration, expected) => {
    expect(new ConnectionInfo({ server, expiration }).expiresAt).toBe(expected)
  })

  it.each<readonly [string, object, string | RegExp]>([
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
    ['a password without a username', { server, password: 'p' }, 'password has no username'],
    [
      'a signing key without a certificate',
      { server, signingKey: { sign() {} } },
      'the signingKey has no certificate',
    ],
    [
      'a signing key and the path of a private key',
      { server, certificatePath: '/c', privateKeyPath: '/k', signingKey: { sign() {} } },
      /^signingKey and a private key are both given/,
    ],
    [
      'a signing key and a private key',
      { server, certificateData: pem, privateKeyData: pem, signingKey: { sign() {} } },
      /^signingKey and a private key are both given/,
    ],
    [
      'a signing key that cannot sign',
      { server, certificatePath: '/c', signingKey: { choose() {} } },
      /^signingKey has no function sign\(\)/,
    ],
    [
      'a signing key whose choose is not a function',
      { server, certificateData: pem, signingKey: { sign() {}, choose: 'rsa' } },
      /or a choose that is not a function$/,
    ],
    ['a number as a CA', { server, caData: 5 }, 'caData is neither a string nor bytes'],
    ['an empty path', { server, caPath: '' }, 'caPath is empty'],
    ['a proxy of another kind', { server, proxyUrl: 'ftp://p' }, /^proxyUrl is not an http, https/],
    ['a server of another kind', { server: 'ftp://one' }, /^server is not an http/],
    ['a scheme with a line break', { server, scheme: 'a\nb' }, /^scheme has a character/],
    [
      'an endless priority',
      { server, priority: Number.POSITIVE_INFINITY },
      /^priority is not a nu/,
    ],
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
    [
      'the last number of seconds',
      { server, expiration: 99_999_999_999 },
      /^expiration is a number/,
    ],
    ['a time before 1970', { server, expiration: -1 }, /^expiration is not a time/],
    ['no end', { server, expiration: Number.POSITIVE_INFINITY }, /^expiration is not a time/],
    ['a truth value', { server, expiration: true }, /^expiration is not a time/],
    ['the number 0', { server, expiration: 0 }, /^expiration is not a time/],
    ['NaN', { server, expiration: Number.NaN }, /^expiration is not a time/],
    ['an invalid Date', { server, expiration: new Date('x') }, /^expiration is not a time/],
    [
      'a field in the words of another language',
      { server, ca_path: '/ca' },
      'there is no field "ca_path"',
    ],
    [
      'a field with a long name, which is cut',
      { server, ['x'.repeat(50)]: 1 },
      `there is no field "${'x'.repeat(40)}"`,
    ],
    ...Object.entries({
      'a token': { token: 't' },
      'a password': { username: 'u', password: 'p' },
      'a certificate': { certificatePath: '/c', privateKeyPath: '/k' },
      'a scheme': { scheme: 'ApiKey 1' },
      'a signing key': { certificatePath: '/c', signingKey: { sign() {} } },
    }).map(
      ([name, fields]) =>
        [
          `${name} over plain http`,
          { server: 'http://one', ...fields },
          /^server is plain http/,
        ] as const,
    ),
  ])('is rejected with %s, and names the field', (_, fields, expected) => {
    expect(problemsOf(fields)).toEqual([
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    ])
  })

  it('takes null for a field that is not set', () => {
    const info = new ConnectionInfo({
      server,
      token: null,
      caData: null,
      signingKey: null,
      expiration: null,
      priority: null,
      insecure: null,
    } as never)
    expect(info.login.connection.user).toEqual({})
    expect([info.priority, info.expiresAt, JSON.stringify(info)]).toEqual([
      0,
      undefined,
      JSON.stringify({ server }),
    ])
  })

  it('may be anonymous over plain http', () => {
    expect(new ConnectionInfo({ server: 'http://one:8080' }).server).toBe('http://one:8080')
  })

  it('has Bearer as the scheme of a token, written out or not; alone it is the whole header', () => {
    const schemeOf = (fields: object) => new ConnectionInfo({ server, ...fields }).login.scheme
    expect(schemeOf({ token: 't', scheme: 'Bearer' })).toBeUndefined()
    expect(schemeOf({ token: 't', scheme: 'ApiKey' })).toBe('ApiKey')
    expect(schemeOf({ scheme: 'Bearer' })).toBe('Bearer')
  })

  it('has the paths of a certificate and its key as they are', () => {
    const fields = { server, certificatePath: '/c', privateKeyPath: '/k' }
    expect(new ConnectionInfo(fields).login.connection.user).toStrictEqual({
      certificate: {
        chain: { from: 'file', path: '/c', field: 'certificatePath' },
        key: { from: 'file', path: '/k', field: 'privateKeyPath' },
      },
    })
  })

  it('warns if it has both a token and a username', () => {
    const warningsOf = (fields: object) =>
      new ConnectionInfo({ server, ...fields }).login.connection.warnings
    const basic = { username: 'u', password: 'p' }
    expect(warningsOf({ token: 't', ...basic })).toEqual([
      'The login has both a token and a username; the token is used.',
    ])
    expect([warningsOf({ token: 't' }), warningsOf(basic)]).toEqual([[], []])
  })

  it('calls a signing key as an object, and chooses the first scheme if the key does not', async () => {
    const signal = new AbortController().signal
    const given = {
      device: 'a token',
      async sign() {
        return Buffer.from(this.device)
      },
      async choose([, second]: readonly string[]) {
        return this.device === 'a token' ? second : undefined
      },
    }
    const keyOf = (signingKey: object) => {
      const fields = { server, certificatePath: '/c', signingKey }
      return new ConnectionInfo(fields as ConnectionFields).login.signing
    }
    const schemes = ['ed25519', 'ecdsa_secp256r1_sha256'] as const
    const signing = keyOf(given)
    expect(signing?.chain).toEqual({ from: 'file', path: '/c', field: 'certificatePath' })
    expect(signing?.given).toBe(given)
    expect(await signing?.signingKey.choose(schemes, signal)).toBe('ecdsa_secp256r1_sha256')
    expect(String(await signing?.signingKey.sign({} as never))).toBe('a token')
    const data = new ConnectionInfo({ server, certificateData: pem, signingKey: given as never })
    expect(data.login.signing?.chain).toEqual({ from: 'data', data: pem, field: 'certificateData' })
    const { signingKey } = keyOf({ sign: given.sign }) ?? {}
    expect(await signingKey?.choose(schemes, signal)).toBe('ed25519')
  })

  it('reports all its problems at once', () => {
    expect(problemsOf({ token: '', insecure: 1 })).toHaveLength(3)
  })

  it.each([
    [null, 'null'],
    ['text', 'a string'],
    [5, 'a number'],
    [[], 'an array'],
    [true, 'a boolean'],
  ])('is not made from %j', (value, name) => {
    expect(() => ConnectionInfo.from(value)).toThrow(
      `a login handler must return a ConnectionInfo or nothing, not ${name}`,
    )
  })

  it('is the same object if a handler returns one', () => {
    const info = new ConnectionInfo({ server })
    expect(ConnectionInfo.from(info)).toBe(info)
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
    expect(inspect(info)).toBe(`ConnectionInfo ${JSON.stringify(info)}`)
  })

  it('shows which fields are set, and the value of those that hold no secret', () => {
    const fields = {
      server,
      caData: pem,
      certificateData: pem,
      signingKey: { sign: async () => Buffer.of() },
      username: 'u',
      password: 'p',
      priority: 3,
      tlsServerName: undefined,
    }
    expect(new ConnectionInfo(fields).toJSON()).toEqual({
      server,
      caData: '[data]',
      certificateData: '[data]',
      signingKey: '[key]',
      username: 'u',
      password: '[secret]',
      priority: 3,
    })
  })

  it('of a kubeconfig shows its server, and whom it impersonates', () => {
    const { login } = new ConnectionInfo({ server, token: 'hush' })
    const shown = (user: object) =>
      new ConnectionInfo({ ...login, connection: { ...login.connection, user } } as never).toJSON()
    const at = { server: 'https://localhost:6443/base' }
    expect(shown({ token: login.connection.user.token })).toEqual(at)
    expect(shown({ impersonate: { user: 'jane', groups: [], extra: {} } })).toEqual({
      ...at,
      as: 'jane',
    })
  })
})

describe('what a handler returns', () => {
  it('is never taken for a login that was checked before', () => {
    const sneaky = { connection: {}, expiresAt: 0, priority: 0, trustEnv: true, scheme: undefined }
    expect(() => ConnectionInfo.from(sneaky)).toThrow('there is no field "connection"')
  })
})
