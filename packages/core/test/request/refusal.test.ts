import { describe, expect, it } from 'vitest'
import { ServerUntrustedError } from '../../src/errors/index.ts'
import { NoResponseError } from '../../src/exchange/handler.ts'
import {
  isRefused,
  refusalOf,
  refusalWithoutResponse,
  resendDelayMs,
} from '../../src/request/refusal.ts'
import { Secret } from '../../src/secret/secret.ts'

const certificate = { chain: 'c', key: new Secret('k'), notBefore: 0, notAfter: 1 }
const coded = (code: string) => Object.assign(new Error('no'), { code })

describe('a response refuses the credential', () => {
  const token = { authorization: 'Bearer t', credential: {} }
  const withCertificate = { authorization: undefined, credential: { certificate } }

  it('if its status is one of the policy, and a credential was sent', () => {
    expect(isRefused(401, '/api', token, [401])).toBe(true)
    expect(isRefused(401, '/api', withCertificate, [401])).toBe(true)
    expect(isRefused(403, '/api', token, [401, 403])).toBe(true)
  })

  it('but not with another status, an anonymous request, or from behind a proxy subresource', () => {
    const anonymous = { authorization: undefined, credential: {} }
    expect(isRefused(403, '/api', token, [401])).toBe(false)
    expect(isRefused(200, '/api', token, [])).toBe(false)
    expect(isRefused(401, '/api', anonymous, [401])).toBe(false)
    expect(isRefused(401, '/api/v1/nodes/a/proxy/x', token, [401])).toBe(false)
  })

  it('and its headers are kept when the caller changes those of the response', () => {
    const headers: Record<string, string> = { 'www-authenticate': 'Bearer' }
    const refusal = refusalOf({ statusCode: 401, headers })
    delete headers['www-authenticate']
    expect(refusal).toEqual({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
  })
})

describe('without a response, an error refuses the credential', () => {
  const alert = coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')
  const endpoint = { cluster: { server: 'https://one.test' } } as never

  it('if it is an alert about the certificate that was sent', () => {
    expect(refusalWithoutResponse(alert, { credential: { certificate } })).toEqual({
      status: 401,
      headers: {},
    })
    expect(refusalWithoutResponse(alert, { credential: {} })).toBeUndefined()
    expect(refusalWithoutResponse(alert, { credential: {}, endpoint })).toBeUndefined()
  })

  it('if the login has its own CA, which does not verify its server', () => {
    const unusable = { status: 0, headers: {} }
    for (const error of [
      coded('CERT_HAS_EXPIRED'),
      coded('SELF_SIGNED_CERT_IN_CHAIN'),
      new ServerUntrustedError('https://one.test', 'unknown'),
    ]) {
      expect(refusalWithoutResponse(error, { credential: {}, endpoint })).toEqual(unusable)
      expect(refusalWithoutResponse(error, { credential: {} })).toBeUndefined()
    }
  })

  it.each([coded('ECONNRESET'), new Error('no'), undefined, null, 'text'])(
    'but not if it is %s',
    (error) => {
      const sent = { credential: { certificate }, endpoint }
      expect(refusalWithoutResponse(error, sent)).toBeUndefined()
    },
  )
})

describe('a request without a response is sent again', () => {
  const delay = (error: unknown, method = 'GET', repeats = 0, canReplay = true) =>
    resendDelayMs(error, { method, repeats, canReplay: () => canReplay })
  const reason = (...given: ConstructorParameters<typeof NoResponseError>) =>
    new NoResponseError(...given)
  const unprocessed = reason('unprocessed', coded('x'))
  const busy = reason('busy', coded('x'))
  const stale = reason('stale', coded('x'))

  it('at once if the server did not process it, a hundred times at most', () => {
    for (const method of ['GET', 'POST']) {
      expect([delay(unprocessed, method, 0), delay(unprocessed, method, 99)]).toEqual([0, 0])
      expect(delay(unprocessed, method, 100)).toBeUndefined()
    }
  })

  it('three times to a busy server, with growing delays', () => {
    expect([0, 1, 2, 3].map((repeats) => delay(busy, 'POST', repeats))).toEqual([
      0,
      50,
      100,
      undefined,
    ])
  })

  it('over a new connection for each that is stale, if its method is safe', () => {
    for (const method of ['GET', 'HEAD']) {
      expect([delay(stale, method), delay(stale, method, 5)]).toEqual([0, 0])
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'get']) {
      expect(delay(stale, method)).toBeUndefined()
    }
  })

  it('once after the connection broke, if its method is safe', () => {
    for (const code of ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']) {
      expect([delay(coded(code)), delay(coded(code), 'HEAD')]).toEqual([0, 0])
      expect(delay(coded(code), 'GET', 1)).toBeUndefined()
      expect(delay(coded(code), 'POST')).toBeUndefined()
    }
  })

  it('never after another error, or if its body cannot be sent again', () => {
    expect(delay(coded('ECONNREFUSED'))).toBeUndefined()
    expect(delay(undefined)).toBeUndefined()
    for (const error of [unprocessed, busy, stale, coded('EPIPE')]) {
      expect(delay(error, 'GET', 0, false)).toBeUndefined()
    }
  })
})
