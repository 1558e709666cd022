import { encodeJson } from '../formats/json.ts'
import type { Keeper } from '../keeper/keeper.ts'
import type { OidcConfig } from '../kubeconfig/connection.ts'
import { parseKubeconfigText } from '../kubeconfig/parse-kubeconfig.ts'
import { describeEntry } from '../kubeconfig/problem.ts'
import type { OidcEntry, OidcTokens } from '../ports/oidc.ts'
import type { Secret } from '../secret/secret.ts'
import { OidcSession, oidcSource } from '../sources/oidc-source.ts'
import type { Source } from '../sources/source.ts'
import { nodeCrypto } from './node-crypto.ts'
import { nodeFiles } from './node-files.ts'
import { nodeOidcIssuer } from './oidc-issuer.ts'
import { type BorrowedKeeper, borrowKeeper, versionRegistry } from './process-registry.ts'
import { systemClock } from './system-clock.ts'
import { writeTokens } from './write-kubeconfig.ts'

export interface OidcKeeperOptions {
  /** Whether new tokens are written into the kubeconfig. */
  readonly isSaved: boolean
  /** What else makes two keepers different. It may hold secrets. */
  readonly identity: unknown
  readonly make: (source: Source) => Keeper
}

/** The keeper of a login: the same for all connections of this process that began with the same refresh token. */
export function openOidcKeeper(config: OidcConfig, options: OidcKeeperOptions): BorrowedKeeper {
  const tokens = tokensOf(config.idToken, config.refreshToken)
  const session = findSession(config)
  const leave = session.join(oidcEntry(config, options.isSaved), tokens)
  const make = (): Keeper => {
    const ports = { issuer: nodeOidcIssuer(), clock: systemClock }
    return options.make(oidcSource(config, session, ports))
  }
  const borrowed = borrowOrMake(session, options.identity, make)
  return {
    keeper: borrowed.keeper,
    async release() {
      await borrowed.release()
      // Behind what is under way: tokens that have just come must still find the file they are saved in.
      const left = session.alone(async () => leave())
      if (options.isSaved) await left
    },
  }
}

function borrowOrMake({ id }: OidcSession, identity: unknown, make: () => Keeper): BorrowedKeeper {
  if (id !== '') return borrowKeeper(nodeCrypto.digest(encodeJson(['oidc', id, identity])), make)
  const keeper = make()
  return { keeper, release: () => keeper.close() }
}

/** Keys of logins that are remembered: each is a digest, and every rotation adds one. */
const MOST_LOGINS = 10_000

/**
 * The login that this refresh token belongs to, also when the issuer has replaced it since.
 *
 * It outlives its connections: a kubeconfig that nobody writes to still has a refresh token that is spent.
 */
function findSession(config: OidcConfig): OidcSession {
  const { refreshToken } = config
  const tokens = tokensOf(config.idToken, refreshToken)
  // Without a refresh token nothing can be spent, and nothing needs to be shared.
  if (refreshToken === undefined) return new OidcSession('', tokens)
  const key = keyOf(config, refreshToken)
  const session =
    versionRegistry().logins.get(key) ??
    new OidcSession(key, tokens, (next) => remember(keyOf(config, next), session))
  remember(key, session)
  return session
}

function remember(key: string, session: OidcSession): void {
  const { logins } = versionRegistry()
  // What was used last is forgotten last.
  logins.delete(key)
  logins.set(key, session)
  const [oldest] = logins.keys()
  if (logins.size > MOST_LOGINS && oldest !== undefined) logins.delete(oldest)
}

function keyOf(config: OidcConfig, refreshToken: Secret): string {
  const { issuer, clientId, clientSecret, certificateAuthority } = config
  const secrets = [clientSecret?.expose(), refreshToken.expose()]
  return nodeCrypto.digest(encodeJson([issuer, clientId, certificateAuthority, ...secrets]))
}

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
