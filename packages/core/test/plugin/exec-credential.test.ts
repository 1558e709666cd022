import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CredentialError, isCredentialError } from '../../src/errors/index.ts'
import { API_VERSIONS, type ApiVersion } from '../../src/kubeconfig/exec-config.ts'
import { decodeExecCredential } from '../../src/plugin/exec-credential.ts'
import type { ExecAnswer } from '../../src/plugin/exec-status.ts'

const [V1, BETA, ALPHA] = API_VERSIONS
const PAIR = { clientCertificateData: 'CERT', clientKeyData: 'KEY' }

function decode(answer: unknown, apiVersion: ApiVersion = V1): ExecAnswer {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return decodeExecCredential(new TextEncoder().encode(text), { apiVersion, command: 'p' })
}

const withStatus = (status: unknown, apiVersion: string = V1) => ({
  kind: 'ExecCredential',
  apiVersion,
  status,
})

function failureOf(answer: unknown, apiVersion?: ApiVersion): CredentialError & { path?: string } {
  try {
    decode(answer, apiVersion)
  } catch (error) {
    if (isCredentialError(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe.each(API_VERSIONS)('an answer in %s', (apiVersion) => {
  it('can be a token', () => {
    const { token, certificate, expiresAt } = decode(
      withStatus({ token: 't' }, apiVersion),
      apiVersion,
    )
    expect(token?.expose()).toBe('t')
    expect(certificate).toBeUndefined()
    expect(expiresAt).toBe(Number.POSITIVE_INFINITY)
  })

  it('can be a certificate with its key', () => {
    const { token, certificate } = decode(withStatus(PAIR, apiVersion), apiVersion)
    expect(token).toBeUndefined()
    expect([certificate?.chain, certificate?.key.expose()]).toEqual(['CERT', 'KEY'])
  })

  it('can be both, with an expiry', () => {
    const status = { token: 't', ...PAIR, expirationTimestamp: '2030-01-31T12:00:00.5+01:00' }
    const answer = decode(withStatus(status, apiVersion), apiVersion)
    expect(Object.keys(answer).sort()).toEqual(['certificate', 'expiresAt', 'token'])
    expect(answer.expiresAt).toBe(Date.UTC(2030, 0, 31, 11, 0, 0, 500))
  })

  it('must have that version', () => {
    for (const other of API_VERSIONS.filter((version) => version !== apiVersion)) {
      const error = failureOf(withStatus({ token: 't' }, other), apiVersion)
      expect(error.code).toBe('ERR_PLUGIN_VERSION')
      expect(error.message).toContain(`use API version ${apiVersion}, but answered in ${other}`)
      expect(error.hint).toContain(`Set exec.apiVersion to ${other}`)
    }
  })
})

describe('an answer is accepted with', () => {
  it.each([
    ['a missing kind', { apiVersion: V1, status: { token: 't' } }],
    ['an empty kind', { kind: '', apiVersion: V1, status: { token: 't' } }],
    ['a kind of null', { kind: null, apiVersion: V1, status: { token: 't' } }],
    ['unknown fields', { ...withStatus({ token: 't', x: 1 }), spec: {}, y: [] }],
    ['fields of null', withStatus({ token: 't', clientKeyData: null, expirationTimestamp: null })],
    [
      'empty certificate and key',
      withStatus({ token: 't', clientCertificateData: '', clientKeyData: '' }),
    ],
    ["Go's zero time", withStatus({ token: 't', expirationTimestamp: '0001-01-01T00:00:00Z' })],
    ['YAML', `apiVersion: ${V1}\nstatus:\n  token: t\n`],
    ['a token with a space inside', undefined],
  ])('%s', (name, answer) => {
    const given = answer ?? withStatus({ token: 'a b' })
    const { token, expiresAt } = decode(given)
    expect(token?.expose(), name).toBe(answer === undefined ? 'a b' : 't')
    expect(expiresAt).toBe(Number.POSITIVE_INFINITY)
  })

  it('an expiry in the past, because the local clock may be wrong', () => {
    const answer = decode(withStatus({ token: 't', expirationTimestamp: '2006-01-02T15:04:05Z' }))
    expect(answer.expiresAt).toBe(Date.UTC(2006, 0, 2, 15, 4, 5))
  })
})

describe('an answer is rejected, with the name of the invalid field', () => {
  it.each([
    {
      answer: { ...withStatus({ token: 't' }), kind: 'Status' },
      path: 'kind',
      says: 'another kind "Status"',
    },
    {
      answer: { ...withStatus({ token: 't' }), kind: 'ExecCredentials' },
      path: 'kind',
      says: 'not ExecCredential',
    },
    {
      answer: { ...withStatus({ token: 't' }), kind: 'hunter2 is my password' },
      path: 'kind',
      says: 'another kind, not',
    },
    { answer: { apiVersion: V1 }, path: 'status', says: "didn't return a status field" },
    { answer: withStatus(null), path: 'status', says: "didn't return a status field" },
    { answer: { apiVersion: V1, Status: { token: 't' } }, path: 'status', says: 'status field' },
    { answer: withStatus('Failure'), path: 'status', says: 'a string as status' },
    { answer: withStatus([]), path: 'status', says: 'a list as status' },
    { answer: withStatus({}), path: 'status', says: "didn't return a token" },
    { answer: withStatus({ token: '' }), path: 'status', says: "didn't return a token" },
    { answer: withStatus({ Token: 't' }), path: 'status', says: "didn't return a token" },
    { answer: withStatus({ token: 12 }), path: 'status.token', says: 'a number as status.token' },
    { answer: withStatus({ token: ['t'] }), path: 'status.token', says: 'a list as status.token' },
    { answer: withStatus({ token: 't\n' }), path: 'status.token', says: 'a line break' },
    {
      answer: withStatus({ token: ' t' }),
      path: 'status.token',
      says: 'not allowed in an HTTP header',
    },
    {
      answer: withStatus({ token: 'tö' }),
      path: 'status.token',
      says: 'not allowed in an HTTP header',
    },
    {
      answer: withStatus({ token: 't\u0000' }),
      path: 'status.token',
      says: 'not allowed in an HTTP header',
    },
    {
      answer: withStatus({ clientCertificateData: 'C' }),
      path: 'status.clientKeyData',
      says: 'only a certificate',
    },
    {
      answer: withStatus({ token: 't', clientKeyData: 'K' }),
      path: 'status.clientCertificateData',
      says: 'only a key',
    },
    {
      answer: withStatus({ ...PAIR, clientKeyData: {} }),
      path: 'status.clientKeyData',
      says: 'an object as',
    },
    {
      answer: withStatus({ token: 't', expirationTimestamp: '' }),
      path: 'status.expirationTimestamp',
      says: 'RFC 3339',
    },
    {
      answer: withStatus({ token: 't', expirationTimestamp: 1_900_000_000 }),
      path: 'status.expirationTimestamp',
      says: 'RFC 3339',
    },
    {
      answer: withStatus({ token: 't', expirationTimestamp: 'tomorrow' }),
      path: 'status.expirationTimestamp',
      says: 'RFC 3339',
    },
  ])('$says ($path)', ({ answer, path, says }) => {
    const error = failureOf(answer)
    expect(error).toMatchObject({ code: 'ERR_PLUGIN_OUTPUT_INVALID', path, retryable: false })
    expect(error.message).toContain(says)
    expect(`${error.message} ${error.hint}`).not.toContain('hunter2')
  })

  it.each([undefined, null, ''])('an apiVersion of %o, with the one to print', (apiVersion) => {
    const error = failureOf({ kind: 'ExecCredential', apiVersion, status: { token: 't' } })
    expect(error.code).toBe('ERR_PLUGIN_VERSION')
    expect(error.message).toContain('without an apiVersion')
    expect(error.hint).toContain(V1)
  })

  it.each(['v1', 'hunter2', 7, `${V1} hunter2`])(
    'an apiVersion of %o, without quoting it',
    (apiVersion) => {
      const error = failureOf({ apiVersion, status: { token: 't' } })
      expect(error.message).toContain('answered in another one')
      expect(error.message).not.toContain('hunter2')
    },
  )
})

describe('the flat form of the first proposal', () => {
  const flat = { kind: 'ExecCredentials', apiVersion: ALPHA, token: 't' }

  it('is accepted for v1alpha1, with its expiry in unix seconds', () => {
    const { token, expiresAt } = decode({ ...flat, expiry: 1_900_000_000 }, ALPHA)
    expect(token?.expose()).toBe('t')
    expect(expiresAt).toBe(1_900_000_000_000)
  })

  it.each([undefined, null, 0])('does not expire with an expiry of %o', (expiry) => {
    expect(decode({ ...flat, expiry }, ALPHA).expiresAt).toBe(Number.POSITIVE_INFINITY)
  })

  it.each(['2030-01-31T12:00:00Z', -1, true, 1e300])(
    'is rejected with an expiry of %o',
    (expiry) => {
      expect(failureOf({ ...flat, expiry }, ALPHA)).toMatchObject({ path: 'expiry' })
    },
  )

  it('can have a certificate', () => {
    expect(decode({ apiVersion: ALPHA, ...PAIR }, ALPHA).certificate?.chain).toBe('CERT')
  })

  it.each([V1, BETA])('is rejected for %s', (apiVersion) => {
    expect(failureOf({ ...flat, kind: 'ExecCredential', apiVersion }, apiVersion)).toMatchObject({
      path: 'status',
    })
  })
})

it('any output of a plugin is decoded, or fails with an error without a secret', () => {
  const leaf = fc.oneof(fc.constantFrom('hunter2', V1, 'ExecCredential', null, 0), fc.jsonValue())
  const status = fc.record(
    { token: leaf, clientCertificateData: leaf, clientKeyData: leaf, expirationTimestamp: leaf },
    { requiredKeys: [] },
  )
  const answer = fc.record(
    { kind: leaf, apiVersion: leaf, status: fc.oneof(status, leaf) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(answer, fc.constantFrom(...API_VERSIONS), (given, apiVersion) => {
      try {
        const { token, certificate } = decode(given, apiVersion)
        expect(token ?? certificate).toBeDefined()
      } catch (error) {
        expect(isCredentialError(error)).toBe(true)
        expect(String(error) + (error as CredentialError).hint).not.toContain('hunter2')
      }
    }),
    { numRuns: 500 },
  )
})
