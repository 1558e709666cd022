import type { SignerContext, SignerHandlers } from 'kubecred/signer'
import { type Configuration, NAMES, readConfiguration } from './configuration.ts'
import type { Access } from './obtain-pin.ts'
import type { Environment } from './read-stored-pin.ts'
import { TokenSession } from './token-session.ts'

/** What the signer needs from the process that it runs in. */
export interface SignerDependencies {
  readonly environment: Environment
  /** Prints a line on standard error. */
  readonly warn: (text: string) => void
  readonly now: () => number
}

/** The handlers of the signer, over a token that stays open between requests. */
export interface Pkcs11Signer extends SignerHandlers {
  /** Logs in before the first signature. */
  readonly unlock: (
    context: Pick<SignerContext, 'configuration' | 'notify' | 'prompt'>,
  ) => Promise<void>
  readonly close: () => void
}

/** Creates the signer. A request whose configuration differs from the previous one closes that token and opens its own. */
export function makeSigner({ environment, warn, now }: SignerDependencies): Pkcs11Signer {
  let held: { readonly key: string; readonly token: TokenSession } | undefined
  const tokenFor = async (configuration: Configuration): Promise<TokenSession> => {
    const key = JSON.stringify(NAMES.map((name) => configuration[name]))
    if (held?.key === key) return held.token
    held?.token.close()
    held = undefined
    const settings = readConfiguration(configuration)
    for (const warning of settings.warnings) warn(`warning: ${warning}`)
    held = { key, token: await TokenSession.open(settings, environment) }
    return held.token
  }
  const accessOf = ({ prompt, notify }: Pick<SignerContext, 'notify' | 'prompt'>): Access => ({
    environment,
    ask: prompt,
    notify,
  })
  return {
    async certificate(context) {
      const token = await tokenFor(context.configuration)
      const { certificate } = await token.certificate(accessOf(context), now())
      const ended = Date.parse(certificate.validTo)
      if (ended <= now()) {
        warn(`warning: the certificate in the token expired on ${certificate.validTo}; replace it`)
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
