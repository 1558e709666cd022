import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSoftHsm, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import { ask, askCertificate, askSignature, certificateRequest } from '../spawn-signer.ts'

let hsm: SoftHsm
beforeAll(() => {
  if (!hasSoftHsm) return
  hsm = new SoftHsm()
  hsm.addToken('certificates')
  for (const id of ['02', '03', '04', '05', '06']) {
    hsm.addKey('certificates', { type: 'EC:prime256v1', id, label: `key-${id}` })
  }
}, 60_000)
afterAll(() => hsm?.[Symbol.dispose]())

describe.skipIf(!hasSoftHsm)('a certificate', () => {
  const configuration = { pathLib: SOFTHSM, tokenLabel: 'certificates', objectIdHex: '02' }
  it('is read without a PIN', async () => {
    const { library, environment } = hsm.spied
    const made = hsm.addCertificate('certificates', '02')
    const found = await askCertificate({ ...configuration, pathLib: library }, environment)
    expect(found.fingerprint256).toBe(made.fingerprint256)
    expect(hsm.callsOf('C_Login')).toBe(0)
  })

  it('is found by the label of its key, even if its own label differs', async () => {
    const { pathLib, tokenLabel } = configuration
    const found = await askCertificate(
      { pathLib, tokenLabel, objectLabel: 'key-02' },
      hsm.environment,
    )
    expect(found.subject).toContain('CN=jane')
    const key = { pathLib, tokenLabel, objectLabel: 'certificate', pin: PIN }
    await askSignature('ecdsa_secp256r1_sha256', key, hsm.environment)
  })

  it('requires the PIN if the token hides it', async () => {
    const made = hsm.addHiddenCertificate('certificates', '03')
    const hidden = { ...configuration, objectIdHex: '03' }
    await expect(askCertificate(hidden, hsm.environment)).rejects.toThrow('cannot prompt')
    const found = await askCertificate({ ...hidden, pin: PIN }, hsm.environment)
    expect(found.fingerprint256).toBe(made.fingerprint256)
  })

  it('is reported as missing, with the command that stores one', async () => {
    const none = { ...configuration, objectIdHex: '04', pin: PIN }
    await expect(askCertificate(none, hsm.environment)).rejects.toThrow(
      /has no certificate with the id 04\nStore the certificate with the id of its key.*pkcs11-tool --write-object/,
    )
  })

  it('is chosen from several: the newest valid one that matches the key', async () => {
    hsm.addCertificate('certificates', '05', { label: 'other key', forId: '04', days: 300 })
    hsm.addCertificate('certificates', '05', { label: 'expired', days: -1 })
    const made = hsm.addCertificate('certificates', '05', { label: 'valid', subject: '/CN=valid' })
    const found = await askCertificate({ ...configuration, objectIdHex: '05' }, hsm.environment)
    expect(found.fingerprint256).toBe(made.fingerprint256)
  })

  it('is returned with a warning if it has expired, so that the server decides', async () => {
    hsm.addCertificate('certificates', '06', { days: -1 })
    const request = certificateRequest({ ...configuration, objectIdHex: '06' })
    const { status, err } = await ask(request, hsm.environment)
    expect(status).toBe(0)
    expect(err).toMatch(/^warning: the certificate in the token expired on /)
  })
})
