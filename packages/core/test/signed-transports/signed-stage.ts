import { withResolvers } from '../adapters/https/with-resolvers.ts'
import { type Misbehaviour, type SoftwareKey, softwareKey } from '../tls/software-key.ts'
import type { Driver } from '../transports/driver.ts'
import { VaultStage } from '../transports/vault-stage.ts'

/** A server, a client of the driver, and its signing key. The credential is only a certificate. */
export interface SignedStage extends AsyncDisposable {
  readonly stage: VaultStage
  readonly key: SoftwareKey
}

export async function openSigned(driver: Driver, habits: Misbehaviour = {}): Promise<SignedStage> {
  const keys: SoftwareKey[] = []
  const stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({
      card: async () => {
        const { certificate, key: pem } = await sandbox.issueCertificate({ user: 'jane' })
        const key = softwareKey(pem, habits)
        keys.push(key)
        const { url: server, caPem: caData } = sandbox
        return { server, caData, certificateData: certificate, signingKey: key }
      },
    }),
  })
  const [key] = keys
  if (key === undefined) throw new Error('there was no login')
  return { stage, key, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

/** A signature that takes as long as the test needs. */
export class HeldSignature {
  readonly #letGoOn = withResolvers<void>()
  readonly #begun = withResolvers<AbortSignal>()

  /** Resolves when the first signature is requested, with its abort signal. */
  get begun(): Promise<AbortSignal> {
    return this.#begun.promise
  }

  readonly habits: Misbehaviour = {
    sign: async (signature, { signal }) => {
      this.#begun.resolve(signal)
      await this.#letGoOn.promise
      return signature()
    },
  }

  letGoOn(): void {
    this.#letGoOn.resolve()
  }
}
