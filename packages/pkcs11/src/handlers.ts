import type { SignerContext, SignerHandlers } from 'kubecred/signer'
import { type Configuration, NAMES, readConfiguration } from './configuration.ts'
import { HeldToken } from './held-token.ts'
import type { Access } from './obtain-pin.ts'
import type { Environment } from './read-stored-pin.ts'

/** What the signer needs of the world. */
export interface Surroundings {
  readonly environment: Environment
  /** Writes a line for people. */
  readonly warn: (text: string) => void
  readonly now: () => number
}

/** The signer: two functions over a token that stays open between requests. */
export interface Pkcs11Signer extends SignerHandlers {
  /** Logs in before the first signature. */
  readonly unlock: (
    context: Pick<SignerContext, 'configuration' | 'ask' | 'prompt'>,
  ) => Promise<void>
  readonly close: () => void
}

/** Makes the signer. A request with another configuration than the one before opens its own token. */
export function makeSigner({ environment, warn, now }: Surroundings): Pkcs11Signer {
  let held: { readonly key: string; readonly token: HeldToken } | undefined
  const tokenFor = async (configuration: Configuration): Promise<HeldToken> => {
    const key = JSON.stringify(NAMES.map((name) => configuration[name]))
    if (held?.key === key) return held.token
    held?.token.close()
    held = undefined
    const wish = readConfiguration(configuration)
    for (const warning of wish.warnings) warn(`warning: ${warning}`)
    held = { key, token: await HeldToken.open(wish, environment) }
    return held.token
  }
  const accessOf = ({ ask, prompt }: Pick<SignerContext, 'ask' | 'prompt'>): Access => ({
    environment,
    ask,
    tell: prompt,
  })
  return {
    async certificate(context) {
      const token = await tokenFor(context.configuration)
      const { certificate } = await token.certificate(accessOf(context), now())
      const ended = Date.parse(certificate.validTo)
      if (ended <= now()) {
        warn(
          `warning: the certificate in the token expired on ${certificate.validTo}; put a new one there`,
        )
      }
      return certificate.raw
    },
    async sign({ scheme, digest, ...context }) {
      const token = await tokenFor(context.configuration)
      return await token.sign(scheme, digest, accessOf(context))
    },
    async unlock(context) {
      const token = await tokenFor(context.configuration)
      await token.unlock(accessOf(context))
    },
    close: () => held?.token.close(),
  }
}
