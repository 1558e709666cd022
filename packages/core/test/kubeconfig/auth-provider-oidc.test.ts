import { describe, expect, it } from 'vitest'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { base64, connectionWith, FILE, thrownBy } from './build-test-connection.ts'

const GOOD = { 'idp-issuer-url': 'https://i.example/realm', 'client-id': 'kube' }
const oidc = (config: object) => ({ 'auth-provider': { name: 'oidc', config } })
const read = (config: object, more: object = {}) =>
  connectionWith({ user: { ...oidc({ ...GOOD, ...config }), ...more } }).user

describe('auth-provider oidc', () => {
  it('becomes part of the user, with its file and user name', () => {
    const entry = { file: FILE, user: 'u' }
    expect(read({})).toEqual({
      name: 'u',
      oidc: { issuer: 'https://i.example/realm', clientId: 'kube', entry },
    })
  })

  it('wraps its tokens and its client secret in Secret', () => {
    const tokens = { 'id-token': 'marked-id', 'refresh-token': 'marked-refresh' }
    const user = read({ ...tokens, 'client-secret': 'marked-secret', 'extra-scopes': 'groups' })
    const { idToken, refreshToken, clientSecret } = user.oidc ?? {}
    const values = [idToken, refreshToken, clientSecret].map((secret) => secret?.expose())
    expect(values).toEqual(['marked-id', 'marked-refresh', 'marked-secret'])
    expectNoLeak([user], values as string[])
  })

  it('ignores empty values', () => {
    const empty = { 'id-token': '', 'refresh-token': null, 'client-secret': '' }
    expect(Object.keys(read(empty).oidc ?? {})).toEqual(['issuer', 'clientId', 'entry'])
  })

  it.each([
    [{ 'idp-certificate-authority': 'ca.pem' }, { from: 'file', path: '/home/ann/.kube/ca.pem' }],
    [{ 'idp-certificate-authority': '/ca.pem' }, { from: 'file', path: '/ca.pem' }],
    [{ 'idp-certificate-authority-data': base64('PEM') }, { from: 'data', data: 'PEM' }],
    [
      { 'idp-certificate-authority': '/ca', 'idp-certificate-authority-data': base64('PEM') },
      { from: 'data', data: 'PEM' },
    ],
  ])('trusts %o', (config, expected) => {
    expect(read(config).oidc?.certificateAuthority).toEqual(expected)
  })

  it.each([{ token: 't' }, { username: 'ann' }, { tokenFile: 'f' }])(
    'is replaced by %o, even if it is invalid',
    (method) => {
      expect(read({ 'client-id': '' }, method).oidc).toBeUndefined()
    },
  )

  it('can be combined with a client certificate', () => {
    const pair = { 'client-certificate': '/c', 'client-key': '/k' }
    expect(Object.keys(read({}, pair))).toEqual(['name', 'certificate', 'oidc'])
  })

  it('is not used over plain http or with option token', () => {
    const user = oidc(GOOD)
    expect(connectionWith({ user, cluster: { server: 'http://k' } }).user.oidc).toBeUndefined()
    expect(connectionWith({ user }, { token: 't' }).user.oidc).toBeUndefined()
  })

  it.each(['http://127.0.0.1:8080', 'http://localhost/x', 'http://[::1]:1'])(
    'allows http on the loopback interface: %s',
    (issuer) => {
      expect(read({ 'idp-issuer-url': issuer }).oidc?.issuer).toBe(issuer)
    },
  )

  it.each([
    ['no issuer', { 'idp-issuer-url': '' }, 'idp-issuer-url is missing'],
    ['no client', { 'client-id': undefined }, 'client-id is missing'],
    ['an invalid URL', { 'idp-issuer-url': 'marked' }, 'idp-issuer-url is not a valid URL'],
    ['plain http', { 'idp-issuer-url': 'http://i.example' }, 'idp-issuer-url is not https'],
    ['a name that looks local', { 'idp-issuer-url': 'http://127.0.0.1.evil.example' }, 'not https'],
    ['another scheme', { 'idp-issuer-url': 'file:///marked' }, 'idp-issuer-url is not https'],
    ['a password', { 'idp-issuer-url': 'https://u:marked@i' }, 'a password'],
    ['a query', { 'idp-issuer-url': 'https://i/?marked' }, 'a query'],
    ['invalid base64', { 'idp-certificate-authority-data': 'marked' }, 'is not valid base64'],
  ])('is rejected with %s', (_, config, says) => {
    const error = thrownBy(() => read(config))
    expect(error.code).toBe('ERR_OIDC_CONFIG')
    expect(error.message).toContain(`user "u" in "${FILE}" has an invalid auth-provider oidc: `)
    expect(error.message).toContain(says)
    expect(`${error.message} ${error.hint}`).not.toContain('marked')
  })

  it('has all problems in one error', () => {
    const { message, hint } = thrownBy(() => connectionWith({ user: oidc({}) }))
    expect(message).toMatch(/idp-issuer-url is missing; client-id is missing$/)
    expect(hint).toMatch(/idp-issuer-url.*client-id/)
  })
})
