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
  it('needs no PIN', async () => {
    const { library, environment } = hsm.spied
    const made = hsm.addCertificate('certificates', '02')
    const found = await askCertificate({ ...configuration, pathLib: library }, environment)
    expect(found.fingerprint256).toBe(made.fingerprint256)
    expect(hsm.callsOf('C_Login')).toBe(0)
  })

  it('is found by the label of its key, which is another than its own', async () => {
    const { pathLib, tokenLabel } = configuration
    const found = await askCertificate(
      { pathLib, tokenLabel, objectLabel: 'key-02' },
      hsm.environment,
    )
    expect(found.subject).toContain('CN=jane')
    const key = { pathLib, tokenLabel, objectLabel: 'certificate', pin: PIN }
    await askSignature('ecdsa_secp256r1_sha256', key, hsm.environment)
  })

  it('needs the PIN where the token hides it', async () => {
    const made = hsm.addHiddenCertificate('certificates', '03')
    const hidden = { ...configuration, objectIdHex: '03' }
    await expect(askCertificate(hidden, hsm.environment)).rejects.toThrow('cannot prompt')
    const found = await askCertificate({ ...hidden, pin: PIN }, hsm.environment)
    expect(found.fingerprint256).toBe(made.fingerprint256)
  })

  it('that is missing is said, with what puts it there', async () => {
    const none = { ...configuration, objectIdHex: '04', pin: PIN }
    await expect(askCertificate(none, hsm.environment)).rejects.toThrow(
      /has no certificate with the id 04\nPut the certificate beside its key.*pkcs11-tool --write-object/,
    )
  })

  it('of several is the valid one for the key, the newest of them', async () => {
    hsm.addCertificate('certificates', '05', { label: 'other key', forId: '04', days: 300 })
    hsm.addCertificate('certificates', '05', { label: 'expired', days: -1 })
    const made = hsm.addCertificate('certificates', '05', { label: 'valid', subject: '/CN=valid' })
    const found = await askCertificate({ ...configuration, objectIdHex: '05' }, hsm.environment)
    expect(found.fingerprint256).toBe(made.fingerprint256)
  })

  it('that has expired is answered with a warning: the server decides', async () => {
    hsm.addCertificate('certificates', '06', { days: -1 })
    const request = certificateRequest({ ...configuration, objectIdHex: '06' })
    const { status, err } = await ask(request, hsm.environment)
    expect(status).toBe(0)
    expect(err).toMatch(/^warning: the certificate in the token expired on /)
  })
})
