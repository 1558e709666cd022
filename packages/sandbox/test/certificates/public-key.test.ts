import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

const pemOf = ({ publicKey }: { publicKey: KeyObject }): string =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString()

describe('a certificate for a given public key', () => {
  it.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['P-521', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ['Ed25519', generateKeyPairSync('ed25519')],
  ])('is issued: %s', async (_, pair) => {
    const publicKey = pemOf(pair)
    const made = await sandbox.issueCertificate({ user: 'jane', publicKey })
    const certificate = new X509Certificate(made.certificate)
    expect(made.key).toBe('')
    expect(certificate.publicKey.equals(pair.publicKey)).toBe(true)
    expect(certificate.subject).toBe('CN=jane')
    expect(certificate.verify(new X509Certificate(sandbox.clientCaPem).publicKey)).toBe(true)
  })

  it('is not issued for an unsupported key', async () => {
    const other = pemOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }))
    await expect(sandbox.issueCertificate({ user: 'jane', publicKey: other })).rejects.toThrow(
      'cannot issue a certificate for a key of type ec',
    )
    await expect(sandbox.issueCertificate({ user: 'jane', publicKey: 'x' })).rejects.toThrow()
  })
})
