import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { nodeCrypto } from '../../src/node/node-crypto.ts'
import { Secret } from '../../src/secret/secret.ts'
import { makePair, toPem } from '../fixtures/make-certificates.ts'

/** The text of a UTCTime. */
const UTC_TIME = /\d{12}Z/g

/** Returns the certificate with another text as one of its two times; its signature is then wrong, and is not checked here. */
function withTime(pem: string, which: 'notBefore' | 'notAfter', time: string): Buffer {
  const der = Buffer.from(new X509Certificate(pem).raw)
  const [first, second] = [...der.toString('latin1').matchAll(UTC_TIME)]
  const found = which === 'notBefore' ? first : second
  if (found === undefined) throw new Error('the certificate has no such time')
  der.write(time, found.index, 'latin1')
  return der
}

describe.each(['notBefore', 'notAfter'] as const)('a certificate whose %s', (which) => {
  it.each(['269912000000Z', '261399999999Z', '26121700000xZ', '             '])(
    'is %j is broken, with and without its key',
    async (time) => {
      const { certificate, key } = await makePair()
      const der = withTime(certificate, which, time)
      expect(nodeCrypto.readChain(der)).toBe('broken-certificate')
      const pem = toPem('CERTIFICATE', der)
      expect(nodeCrypto.readPair(pem, new Secret(key))).toBe('broken-certificate')
    },
  )

  it('is a time is read', async () => {
    const { certificate } = await makePair()
    const der = withTime(certificate, which, '300131120000Z')
    expect(nodeCrypto.readChain(der)).toMatchObject({ [which]: Date.UTC(2030, 0, 31, 12) })
  })
})
