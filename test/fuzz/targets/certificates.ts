import { X509Certificate } from 'node:crypto'
import { nodeCrypto } from '../../../packages/core/src/node/node-crypto.ts'
import { loadX509 } from '../../../packages/sandbox/src/certificates/x509-module.ts'
import { readCorpus } from '../corpus.ts'
import { type FuzzTarget, must, resultOf } from '../fuzz-target.ts'

/** The part of a certificate of `@peculiar/x509` that is compared. */
interface PeculiarCertificate {
  readonly notBefore: Date
  readonly notAfter: Date
  readonly publicKey: { readonly rawData: ArrayBuffer }
}

/** The part of `@peculiar/x509` that is used here; the sandbox declares only what it uses itself. */
interface Peculiar {
  readonly X509Certificate: new (der: Uint8Array) => PeculiarCertificate
}

/** A certificate or a chain, as DER or PEM. The reference is `@peculiar/x509`. */
export const certificates: FuzzTarget = {
  name: 'certificates',
  about: 'any bytes are a chain with its times and key, or a problem with a name',
  async open() {
    const { X509Certificate: Reference } = loadX509() as unknown as Peculiar
    const pems = readCorpus('certificates')
    return {
      corpus: [...pems, ...pems.map((pem) => new X509Certificate(pem).raw)],
      words: ['-----BEGIN CERTIFICATE-----\n', '-----END CERTIFICATE-----\n', '269912000000Z'],
      check(input, note) {
        const read = nodeCrypto.readChain(input)
        if (typeof read === 'string') return
        const { chain, notBefore, notAfter, keyKind } = read
        must(Number.isFinite(notBefore) && Number.isFinite(notAfter), 'a time is not a number')
        must(keyKind !== '', 'the key has no kind')
        const leaf = new X509Certificate(chain)
        const other = resultOf(() => new Reference(leaf.raw))
        if ('error' in other) return note('@peculiar/x509 refuses what we read')
        const times = [other.value.notBefore, other.value.notAfter].map((time) => time.getTime())
        if (times.some(Number.isNaN)) return note('@peculiar/x509 reads a time that is none')
        must(times.join() === [notBefore, notAfter].join(), '@peculiar/x509 reads other times')
        const key = resultOf(() => leaf.publicKey.export({ type: 'spki', format: 'der' }))
        const theirs = resultOf(() => Buffer.from(other.value.publicKey.rawData))
        if ('error' in key || 'error' in theirs) return note('a key cannot be read')
        // OpenSSL encodes the key anew, so other bytes may be the same key.
        if (!theirs.value.equals(key.value)) note('@peculiar/x509 reads other key bytes')
      },
    }
  },
}
