import type { Credential } from '../../src/credential/credential.ts'
import { Secret } from '../../src/secret/secret.ts'
import type { AcquireContext, Acquired, Source } from '../../src/sources/source.ts'

/** A `Crypto` whose digests are the text itself, and without jitter. */
export const plainCrypto = {
  digest: (text: string) => text,
  readPair: () => 'mismatch' as const,
  readChain: () => 'no-certificate' as const,
  isSignature: () => false,
  jitter: () => 0,
}

/** A source whose runs the test answers by hand. */
export class HandSource implements Source {
  readonly label = { kind: 'exec', name: 'hand' } as const
  readonly asks: (AcquireContext & {
    answer: (credential: string | Credential, expiresAt?: number) => void
    fail: (error: Error) => void
  })[] = []

  acquire(ask: AcquireContext): Promise<Acquired> {
    return new Promise((resolve, reject) => {
      this.asks.push({
        ...ask,
        answer: (given, expiresAt = Number.POSITIVE_INFINITY) => {
          const credential = typeof given === 'string' ? { token: new Secret(given) } : given
          resolve({ credential, expiresAt })
        },
        fail: reject,
      })
    })
  }
}

/** A certificate whose chain and key are just names. */
export function namedCertificate(name: string, notAfter: number) {
  return { chain: name, key: new Secret(`key of ${name}`), notBefore: 0, notAfter }
}

/** A resource that records how it was closed. It closes by itself only when `finish` is called. */
export class HandResource {
  readonly ended: string[] = []
  finish: () => void = () => {}

  close(): Promise<void> {
    this.ended.push('close')
    return new Promise((resolve) => {
      this.finish = resolve
    })
  }

  destroy(reason: Error): void {
    this.ended.push(reason.name)
    this.finish()
  }
}

/** Resolves when everything that could go on without time passing has gone on. */
export const settled = () => new Promise((resolve) => setImmediate(resolve))
