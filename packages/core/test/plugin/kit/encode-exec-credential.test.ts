import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { API_VERSIONS } from '../../../src/kubeconfig/exec-config.ts'
import { decodeExecCredential } from '../../../src/plugin/exec-credential.ts'
import {
  encodeExecCredential,
  type PluginCredential,
  Secret,
} from '../../../src/plugin/kit/index.ts'
import { expectNoLeak } from '../../fixtures/no-leak.ts'

const [V1] = API_VERSIONS
const MARK = 'hunter2-hunter2'

function failure(credential: unknown): { path: string; message: string; hint: string } {
  try {
    encodeExecCredential(credential as PluginCredential, { apiVersion: V1 })
  } catch (error) {
    expectNoLeak([error], [MARK])
    return error as { path: string; message: string; hint: string }
  }
  return expect.unreachable()
}

describe('an answer', () => {
  it.each(API_VERSIONS)('is in the requested version: %s', (apiVersion) => {
    expect(JSON.parse(encodeExecCredential({ token: 't' }, { apiVersion }))).toEqual({
      kind: 'ExecCredential',
      apiVersion,
      status: { token: 't' },
    })
  })

  it('is one line', () => {
    const credential = { clientCertificateData: 'a\nb', clientKeyData: new Secret('c\nd') }
    expect(encodeExecCredential(credential, { apiVersion: V1 })).not.toContain('\n')
  })

  it('contains the value of a Secret', () => {
    const text = encodeExecCredential({ token: new Secret('in-a-secret') }, { apiVersion: V1 })
    expect(JSON.parse(text).status.token).toBe('in-a-secret')
  })

  it.each([
    [new Date(Date.UTC(2030, 0, 31, 12)), '2030-01-31T12:00:00Z'],
    [Date.UTC(2030, 0, 31, 12) + 0.7, '2030-01-31T12:00:00Z'],
    [Date.UTC(2030, 0, 31, 12) + 5, '2030-01-31T12:00:00.005Z'],
    ['2030-01-31T14:00:00+02:00', '2030-01-31T14:00:00+02:00'],
    [undefined, undefined],
  ])('writes the time %s as %s', (expirationTimestamp, written) => {
    const text = encodeExecCredential({ token: 't', expirationTimestamp }, { apiVersion: V1 })
    expect(JSON.parse(text).status.expirationTimestamp).toBe(written)
  })
})

describe('an invalid credential is rejected:', () => {
  it.each([
    [{ token: `${MARK}\n` }, 'status.token', 'a line break'],
    [{ token: `${MARK}é` }, 'status.token', 'not allowed in an HTTP header'],
    [{ token: 7 }, 'status.token', 'a number'],
    [{ token: '' }, 'status', "didn't return a token"],
    [{}, 'status', "didn't return a token"],
    [undefined, 'status', 'returned nothing instead of an object'],
    [null, 'status', 'returned null instead of an object'],
    [MARK, 'status', 'returned a string'],
    [[MARK], 'status', 'returned a list'],
    [{ clientCertificateData: MARK }, 'status.clientKeyData', 'only a certificate'],
    [{ clientKeyData: MARK }, 'status.clientCertificateData', 'only a key'],
    [{ token: 't', expiry: MARK }, 'status.expiry', 'an unknown field: "expiry"'],
    [{ token: 't', status: {} }, 'status.status', 'an unknown field'],
    [{ token: 't', expirationTimestamp: '2030-01-31' }, 'status.expirationTimestamp', 'RFC 3339'],
    [{ token: 't', expirationTimestamp: new Date('x') }, 'status.expirationTimestamp', 'invalid'],
    [{ token: 't', expirationTimestamp: Number.NaN }, 'status.expirationTimestamp', 'invalid'],
    [{ token: 't', expirationTimestamp: 1_900_000_000 }, 'status.expirationTimestamp', 'seconds'],
    [{ token: 't', expirationTimestamp: 1e15 }, 'status.expirationTimestamp', 'RFC 3339'],
    [{ token: 't', expirationTimestamp: true }, 'status.expirationTimestamp', 'RFC 3339'],
  ])('%j', (credential, path, words) => {
    const error = failure(credential)
    expect(error.path).toBe(path)
    expect(error.message).toContain(words)
    expect(error.hint).toMatch(/^[A-Z].*\.$/)
  })
})

it('an answer is decoded to the same credential', () => {
  const header = fc
    .array(fc.integer({ min: 0x21, max: 0x7e }), { minLength: 1 })
    .map((codes) => String.fromCharCode(...codes))
  const pem = fc.string({ minLength: 1, unit: 'grapheme' })
  const boxed = (text: fc.Arbitrary<string>): fc.Arbitrary<string | Secret> =>
    fc.tuple(text, fc.boolean()).map(([value, box]) => (box ? new Secret(value) : value))
  const credential: fc.Arbitrary<PluginCredential> = fc
    .tuple(fc.option(boxed(header)), fc.option(fc.tuple(pem, boxed(pem))), time())
    .filter(([token, pair]) => token !== null || pair !== null)
    .map(([token, pair, expirationTimestamp]) => ({
      ...(token !== null && { token }),
      ...(pair && { clientCertificateData: pair[0], clientKeyData: pair[1] }),
      expirationTimestamp,
    })) as fc.Arbitrary<PluginCredential>
  fc.assert(
    fc.property(credential, fc.constantFrom(...API_VERSIONS), (given, apiVersion) => {
      const bytes = new TextEncoder().encode(encodeExecCredential(given, { apiVersion }))
      const read = decodeExecCredential(bytes, { apiVersion, command: 'p' })
      expect(read.token?.expose()).toBe(open(given.token))
      expect(read.certificate?.chain).toBe(given.clientCertificateData)
      expect(read.certificate?.key.expose()).toBe(open(given.clientKeyData))
      expect(read.expiresAt).toBe(Number(given.expirationTimestamp ?? Number.POSITIVE_INFINITY))
    }),
  )
})

function time(): fc.Arbitrary<Date | number | undefined> {
  const date = fc.date({
    min: new Date('2000-01-01'),
    max: new Date('9999-12-31'),
    noInvalidDate: true,
  })
  return fc.oneof(date, date.map(Number), fc.constant(undefined))
}

function open(value: string | Secret | undefined): string | undefined {
  return value instanceof Secret ? value.expose() : value
}
