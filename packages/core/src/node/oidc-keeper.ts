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
import { acquireSharedKeeper, type SharedKeeper, versionRegistry } from './process-registry.ts'
import { systemClock } from './system-clock.ts'
import { writeTokens } from './write-kubeconfig.ts'

/** Options of {@link openOidcKeeper}. */
export interface OidcKeeperOptions {
  /** Whether new tokens are written into the kubeconfig. */
  readonly isSaved: boolean
  /** What else distinguishes keepers. It may contain secrets. */
  readonly identity: unknown
  readonly make: (source: Source) => Keeper
}

/** Opens the keeper of an OIDC login. Connections of this process that start with the same refresh token share it. */
export function openOidcKeeper(config: OidcConfig, options: OidcKeeperOptions): SharedKeeper {
  const tokens = tokensOf(config.idToken, config.refreshToken)
  const session = findSession(config)
  const leave = session.join(oidcEntry(config, options.isSaved), tokens)
  const make = (): Keeper => {
    const ports = { issuer: nodeOidcIssuer(), clock: systemClock }
    return options.make(oidcSource(config, session, ports))
  }
  const shared = acquireOrMake(session, options.identity, make)
  return {
    keeper: shared.keeper,
    async release() {
      await shared.release()
      // After pending work: tokens that have just arrived must still be saved to the file.
      const left = session.runExclusive(async () => leave())
      if (options.isSaved) await left
    },
  }
}

function acquireOrMake({ id }: OidcSession, identity: unknown, make: () => Keeper): SharedKeeper {
  if (id !== '')
    return acquireSharedKeeper(nodeCrypto.digest(encodeJson(['oidc', id, identity])), make)
  const keeper = make()
  return { keeper, release: () => keeper.close() }
}

/** Limit for the keys of logins: each is a digest, and every rotation adds one. */
const MAX_LOGIN_KEYS = 10_000

/**
 * Returns the login that this refresh token belongs to, also if the issuer has rotated it since.
 *
 * It outlives its connections: a kubeconfig that is not updated still has the refresh token that is already used.
 */
function findSession(config: OidcConfig): OidcSession {
  const { refreshToken } = config
  const tokens = tokensOf(config.idToken, refreshToken)
  // Without a refresh token there is no rotation, and nothing to share.
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
  // Delete and set moves the key to the end: the least recently used one is evicted first.
  logins.delete(key)
  logins.set(key, session)
  const [oldest] = logins.keys()
  if (logins.size > MAX_LOGIN_KEYS && oldest !== undefined) logins.delete(oldest)
}

function keyOf(config: OidcConfig, refreshToken: Secret): string {
  const { issuer, clientId, clientSecret, certificateAuthority } = config
  const secrets = [clientSecret?.expose(), refreshToken.expose()]
  return nodeCrypto.digest(encodeJson([issuer, clientId, certificateAuthority, ...secrets]))
}

/** Returns the user entry of a kubeconfig file as the store for the tokens of a login. */
export function oidcEntry({ entry, issuer, clientId }: OidcConfig, isSaved: boolean): OidcEntry {
  const { file, user } = entry
  return {
    where: describeEntry('user', { ...entry, name: user }),
    isSaved: isSaved && file !== undefined,
    hasFile: file !== undefined,
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
        // Missing, or being written: the tokens in memory stay in use.
        return undefined
      }
    },
    async save(tokens, expected) {
      if (file === undefined) return 'changed'
      return writeTokens({ file, user }, tokens, { expected })
    },
  }
}

/** Returns the tokens without those that are missing or empty. */
export function tokensOf(
  idToken: Secret | undefined,
  refreshToken: Secret | undefined,
): OidcTokens {
  return {
    ...(idToken?.expose() && { idToken }),
    ...(refreshToken?.expose() && { refreshToken }),
  }
}
