import { describe, expect, it } from 'vitest'
import type { Credential } from '../../src/credential/credential.ts'
import { ClosedError, PluginExitedError } from '../../src/errors/index.ts'
import {
  acquiredFacts,
  leaseSecrets,
  makeLease,
  readVerdict,
  withNextTry,
} from '../../src/keeper/lease.ts'
import { Secret } from '../../src/secret/secret.ts'
import { namedCertificate, plainCrypto } from './hand-source.ts'

const token = new Secret('the-token')
const basic = { username: 'jane', password: new Secret('pässword') }
const certificate = namedCertificate('one', 1000)
const cluster = { insecureSkipTlsVerify: false, disableCompression: false }
const endpoint = {
  cluster: { ...cluster, server: 'https://one.test' },
  ca: undefined,
  namespace: 'default',
  trustEnv: false,
  priority: 0,
}

const leaseOf = (credential: Credential, more: Partial<Parameters<typeof makeLease>[1]> = {}) =>
  makeLease(1, { credential, ...more }, plainCrypto, undefined)

describe('the Authorization header of a lease', () => {
  it.each<[string, Credential, string | undefined]>([
    ['is the token', { token }, 'Bearer the-token'],
    ['has the scheme', { token, scheme: new Secret('Token') }, 'Token the-token'],
    ['may be a scheme alone', { scheme: new Secret('Custom abc'), basic }, 'Custom abc'],
    ['is basic, in UTF-8', { basic }, 'Basic amFuZTpww6Rzc3dvcmQ='],
    ['prefers the token to basic', { token, basic }, 'Bearer the-token'],
    ['is absent with a certificate alone', { certificate }, undefined],
    ['is absent for an anonymous user', {}, undefined],
  ])('%s', (_, credential, header) => {
    expect(leaseOf(credential).authorization).toBe(header)
  })
})

describe('a lease', () => {
  it('takes over the connections of the old one if the certificate is the same', () => {
    const old = leaseOf({ token, certificate })
    const isTakenOver = (credential: Credential) =>
      makeLease(2, { credential }, plainCrypto, old).resources === old.resources
    expect(isTakenOver({ token: new Secret('next'), certificate })).toBe(true)
    expect(isTakenOver({ token, certificate: namedCertificate('two', 1000) })).toBe(false)
    expect(isTakenOver({ token })).toBe(false)
    void old.resources.retire()
    expect(isTakenOver({ token, certificate })).toBe(false)
  })

  it('has one identity for one server and credential, and a digest that also covers other fields', () => {
    const [first, same, proxied, moved, other, none] = [
      leaseOf({ token }, { endpoint }),
      leaseOf({ token }, { endpoint }),
      leaseOf(
        { token },
        { endpoint: { ...endpoint, cluster: { ...endpoint.cluster, proxyUrl: new Secret('p') } } },
      ),
      leaseOf(
        { token },
        { endpoint: { ...endpoint, cluster: { ...cluster, server: 'https://two.test' } } },
      ),
      leaseOf({ token: new Secret('other') }, { endpoint }),
      leaseOf({ token }),
    ]
    expect([same?.digest, same?.identity]).toEqual([first?.digest, first?.identity])
    expect(proxied?.identity).toBe(first?.identity)
    expect(new Set([first, proxied, moved, other, none].map((each) => each?.digest)).size).toBe(5)
    expect(new Set([first, moved, other, none].map((each) => each?.identity)).size).toBe(4)
    expect([first?.endpoint, none && 'endpoint' in none]).toEqual([endpoint, false])
    const renamespaced = leaseOf({ token }, { endpoint: { ...endpoint, namespace: 'other' } })
    expect(renamespaced.digest).not.toBe(first?.digest)
  })

  it('names every secret it has, so that texts can be freed of them', () => {
    const secrets = leaseSecrets(leaseOf({ token, basic, certificate }), undefined)
    expect(secrets.map((secret) => secret.expose())).toEqual([
      'the-token',
      'pässword',
      'key of one',
      'Bearer the-token',
    ])
    expect(leaseSecrets(leaseOf({})).map((secret) => secret.expose())).toEqual([''])
  })
})

describe('the facts of an acquired credential', () => {
  const facts = (credential: Credential, expiresAt: number, old?: Credential) =>
    acquiredFacts({ credential, expiresAt }, leaseOf(credential), old && leaseOf(old))

  it('have its parts, and its expiry if there is one', () => {
    expect(facts({ token, basic }, Number.POSITIVE_INFINITY)).toEqual({
      expiresAt: undefined,
      parts: ['token', 'basic'],
    })
    expect(facts({ token }, 5, { token })).toStrictEqual({ expiresAt: 5, parts: ['token'] })
  })

  it('have the validity of its certificate, and of the one that it replaced', () => {
    const next = namedCertificate('two', 2000)
    expect(facts({ certificate: next }, 5, { certificate })).toStrictEqual({
      expiresAt: 5,
      parts: ['certificate'],
      certificate: { notBefore: 0, notAfter: 2000 },
      replaced: { notBefore: 0, notAfter: 1000 },
    })
    expect(facts({ certificate }, 5, { certificate })).not.toHaveProperty('replaced')
    expect(facts({ certificate }, 5)).not.toHaveProperty('replaced')
  })
})

describe('a verdict', () => {
  it('is a lease, an error or something to wait for', () => {
    expect(readVerdict({ is: 'wait' })).toBeUndefined()
    expect(() => readVerdict({ is: 'closed' })).toThrow(ClosedError)
    const error = new PluginExitedError('hand', 3)
    expect(() => readVerdict({ is: 'fail', error, nextTryAt: 7 })).toThrow(error)
    expect(error.nextTryAt).toBe(7)
  })

  it('adds the time of the next try to our errors only, and only if there is one', () => {
    const error = new PluginExitedError('hand', 3)
    expect(withNextTry(error, Number.NEGATIVE_INFINITY)).not.toHaveProperty('nextTryAt')
    expect(withNextTry(new TypeError('oops'), 7)).not.toHaveProperty('nextTryAt')
  })
})
