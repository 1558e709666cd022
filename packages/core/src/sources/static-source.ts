import type { Credential } from '../credential/credential.ts'
import { MAX_CHAIN_BYTES } from '../credential/signing-key.ts'
import { CertificateInvalidError } from '../errors/index.ts'
import { formatRfc3339 } from '../formats/rfc3339.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto, PairProblem } from '../ports/crypto.ts'
import type { SourceLabel } from '../ports/observer.ts'
import type { Secret } from '../secret/secret.ts'
import type { Source } from './source.ts'

/** Returns a source for the inline credential of a kubeconfig, or for none at all. It never changes. */
export function staticSource(credential: Credential): Source {
  const kinds = Object.keys(credential)
  const label: SourceLabel =
    kinds.length === 0
      ? { kind: 'anonymous', name: 'no credential' }
      : { kind: 'static', name: kinds.join(' and ') }
  const acquired = { credential, expiresAt: Number.POSITIVE_INFINITY }
  return { label, acquire: async () => acquired }
}

/** Returns a source for an inline certificate and key. Its run fails if they do not match. */
export function staticPairSource(
  { chain, key, where }: { chain: string; key: Secret; where: string },
  { crypto, clock }: { readonly crypto: Crypto; readonly clock: Clock },
): Source {
  return {
    label: { kind: 'static', name: 'certificate' },
    async acquire({ report }) {
      const certificate = crypto.readPair(chain, key)
      if (typeof certificate === 'string') {
        throw new CertificateInvalidError(`${where}: ${describePairProblem(certificate)}`)
      }
      if (certificate.notAfter <= clock.now()) {
        const when = formatRfc3339(certificate.notAfter)
        report({ type: 'warning', message: `${where}: the client certificate expired at ${when}` })
      }
      return { credential: { certificate }, expiresAt: Number.POSITIVE_INFINITY }
    },
  }
}

const PROBLEMS: Readonly<Record<PairProblem, string>> = {
  'no-certificate': 'the certificate is not PEM (no CERTIFICATE block)',
  'broken-certificate': 'the certificate cannot be parsed',
  'long-chain': `the chain is longer than ${MAX_CHAIN_BYTES} bytes, which no server accepts`,
  'no-key': 'the key is not PEM (no PRIVATE KEY block)',
  'broken-key': 'the key cannot be parsed as PKCS#8, PKCS#1 or SEC1',
  'encrypted-key': 'the key is encrypted, which is not supported',
  mismatch: 'the key belongs to another certificate',
}

/** Returns why a certificate and a key cannot be used together, for messages. */
export function describePairProblem(problem: PairProblem): string {
  return PROBLEMS[problem]
}
