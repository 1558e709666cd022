import type { OidcConfig } from '../kubeconfig/connection.ts'
import { parseKubeconfigText } from '../kubeconfig/parse-kubeconfig-text.ts'
import { describeEntry } from '../kubeconfig/quote-name.ts'
import type { OidcEntry, OidcTokens } from '../ports/oidc.ts'
import type { Secret } from '../secret/secret.ts'
import { nodeFiles } from './node-files.ts'
import { writeTokens } from './write-kubeconfig.ts'

/** The user entry of a kubeconfig file, as the place where the tokens of a login are kept. */
export function oidcEntry({ entry, issuer, clientId }: OidcConfig, isSaved: boolean): OidcEntry {
  const { file, user } = entry
  return {
    where: describeEntry('user', { name: user, file }),
    isSaved: isSaved && file !== undefined,
    async read() {
      try {
        if (file === undefined) return undefined
        const provider = parseKubeconfigText(await nodeFiles.read(file), file).users.get(
          user,
        )?.authProvider
        const config = provider?.config
        const isOurs =
          config?.get('idp-issuer-url')?.expose() === issuer &&
          config.get('client-id')?.expose() === clientId
        return isOurs ? tokensOf(config.get('id-token'), config.get('refresh-token')) : undefined
      } catch {
        // Gone, or half-written for a moment: what we hold is good all the same.
        return undefined
      }
    },
    async save(tokens, expected) {
      if (file === undefined) return 'changed'
      return writeTokens({ file, user }, tokens, { expected })
    },
  }
}

/** Leaves out what is not there, or empty. */
export function tokensOf(
  idToken: Secret | undefined,
  refreshToken: Secret | undefined,
): OidcTokens {
  return {
    ...(idToken?.expose() && { idToken }),
    ...(refreshToken?.expose() && { refreshToken }),
  }
}
