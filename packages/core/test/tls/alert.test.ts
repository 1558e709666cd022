import { describe, expect, it } from 'vitest'
import { certificateAlert, explainEarlyAlert } from '../../src/tls/alert.ts'

const coded = (code: string) => Object.assign(new Error('no'), { code })

describe('an alert about the client certificate', () => {
  it.each([
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'bad certificate'],
    ['ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE', 'unsupported certificate'],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED', 'certificate revoked'],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'certificate expired'],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN', 'certificate unknown'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'certificate required'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'unknown ca'],
    ['ERR_SSL_TLSV1_ALERT_ACCESS_DENIED', 'access denied'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'handshake failure'],
  ])('%s is recognised', (code, name) => {
    expect(certificateAlert(coded(code))).toBe(name)
  })

  it.each([
    coded('ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'),
    coded('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'),
    coded('BAD_CERTIFICATE'),
    coded('ECONNRESET'),
    new Error('ALERT_UNKNOWN_CA'),
    undefined,
    null,
  ])('is not %s', (error) => {
    expect(certificateAlert(error)).toBeUndefined()
    expect(explainEarlyAlert(error)).toBe(error)
  })

  it('does not count if it came before the client sent a certificate', () => {
    const error = coded('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')
    const explained = explainEarlyAlert(error)
    expect(certificateAlert(explained)).toBeUndefined()
    expect(explained).toMatchObject({
      cause: error,
      message: expect.stringContaining('"unknown ca" before the client sent a certificate'),
    })
  })
})
