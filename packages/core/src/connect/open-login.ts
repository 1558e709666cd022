import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Credential, UNAUTHORIZED } from '../credential/credential.ts'
import type { Keeper } from '../keeper/keeper.ts'
import type { Connection, Endpoint, Material, UserIdentity } from '../kubeconfig/connection.ts'
import { loadAuthority, watchAuthority } from '../node/certificate-authority.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { nodeFiles } from '../node/node-files.ts'
import type { SharedKeeper } from '../node/process-registry.ts'
import { requireAbility } from '../node/runtime.ts'
import { systemClock } from '../node/system-clock.ts'
import { Secret } from '../secret/secret.ts'
import { chooseSource } from '../sources/choose-source.ts'
import type { AcquireContext, Source } from '../sources/source.ts'
import { isSame, type LoginListener, type OpenedLogin } from '../vault/login-source.ts'
import type { Login } from '../vault/read-connection-info.ts'
import type { ConnectOptions } from './connect-options.ts'
import { openKeeper } from './open-keeper.ts'

/**
 * Opens what a login handler returned: reads its files, and looks up its plugin if it has one.
 *
 * @throws {CredentialError} If it is invalid; the message names the field or file.
 */
export async function openLogin(
  login: Login,
  options: ConnectOptions,
  keyIds: KeyIds,
  listener: LoginListener,
): Promise<OpenedLogin> {
  const connection = withKey(withPaths(login.connection), login, keyIds)
  const { cluster, namespace, user } = connection
  const ca = await loadAuthority(cluster, nodeFiles)
  const credentials = isShared(user)
    ? sharedCredentials(await openKeeper(connection, ca, options), listener)
    : ownCredentials(chooseSource(user, PORTS), listener)
  const stopFollowing = watchAuthority(cluster, ca, nodeFiles, {
    onChange: () => listener.onChange(),
    onProblem: (message) => listener.report({ type: 'warning', message }),
    onReload: (reload) => listener.report({ type: 'ca-reload', ...reload }),
  })
  const { priority, trustEnv, scheme } = login
  const { impersonate } = user
  const endpoint: Endpoint = {
    ...{ cluster, ca, namespace, trustEnv, priority },
    ...(impersonate && { impersonate }),
  }
  return {
    async acquire(ask, last) {
      // Only once: a login that is renewed every few minutes has the same warnings each time.
      if (ask.reason === 'first') {
        for (const message of connection.warnings) ask.report({ type: 'warning', message })
      }
      const { credential, expiresAt } = await credentials.acquire(ask, last)
      return {
        credential: { ...credential, ...(scheme !== undefined && { scheme: new Secret(scheme) }) },
        expiresAt,
        endpoint,
      }
    },
    release() {
      stopFollowing()
      return credentials.release()
    },
  }
}

const PORTS = { crypto: nodeCrypto, clock: systemClock, files: nodeFiles }

/**
 * Whether the credential has its own keeper in the process registry, which other connections may share: plugins,
 * external signers and OpenID Connect sessions.
 */
function isShared({ exec, oidc, externalSigner }: UserIdentity): boolean {
  return [exec, oidc, externalSigner].some((each) => each !== undefined)
}

function sharedCredentials(
  shared: SharedKeeper,
  { onChange, observe }: LoginListener,
): OpenedLogin {
  const { keeper } = shared
  const stopObserving = observe(keeper)
  const unsubscribe = keeper.subscribe({
    onSettled(result) {
      if ('credential' in result && !result.isSame) onChange(result.credential)
    },
  })
  return {
    async acquire(ask, last) {
      const credential = await leaseShared(keeper, ask, last)
      return { credential, expiresAt: keeper.held?.expiresAt ?? Number.POSITIVE_INFINITY }
    },
    release() {
      unsubscribe()
      stopObserving()
      return shared.release()
    },
  }
}

async function leaseShared(
  keeper: Keeper,
  { reason, refusal, signal }: AcquireContext,
  last: Credential | undefined,
): Promise<Credential> {
  const { held } = keeper
  // Not `replace()`: the vault has already reported the refusal.
  if (reason === 'refused' && held !== undefined && isSame(held.credential.credential, last)) {
    await keeper.waitForBetter(held.credential, refusal ?? UNAUTHORIZED, signal)
  }
  return (await keeper.lease(signal)).credential
}

/**
 * Credentials that are in the login itself or in files. The handler's keeper is their only keeper, and they do not
 * expire by themselves: a file that changes is read again, and the handler runs only if the credential is new.
 */
function ownCredentials(source: Source, { onChange, report }: LoginListener): OpenedLogin {
  const life = new AbortController()
  const { signal } = life
  const readAgain = async (): Promise<void> => {
    try {
      const { credential } = await source.acquire({ reason: 'ahead', signal, report })
      if (!signal.aborted) onChange(credential)
    } catch {
      // The next login reads it again and reports the error.
    }
  }
  const stopWatching = source.watch?.(() => void readAgain())
  return {
    async acquire(ask) {
      return { ...(await source.acquire(ask)), expiresAt: Number.POSITIVE_INFINITY }
    },
    async release() {
      life.abort()
      stopWatching?.()
    },
  }
}

/** Identifiers for signing keys, which are compared as objects. */
export type KeyIds = WeakMap<object, string>

function withKey(connection: Connection, { signing }: Login, keyIds: KeyIds): Connection {
  if (signing === undefined) return connection
  requireAbility('signing keys')
  const { chain, signingKey, given } = signing
  const id = keyIds.get(given) ?? randomUUID()
  keyIds.set(given, id)
  const user = { ...connection.user, signing: { chain: absoluteMaterial(chain), signingKey, id } }
  return { ...connection, user }
}

/** Makes the paths of a login absolute: they are relative to the current folder, and `~` is the home folder. */
function withPaths(connection: Connection): Connection {
  const { cluster, user } = connection
  const { certificateAuthority } = cluster
  const { certificate } = user
  return {
    ...connection,
    cluster: {
      ...cluster,
      ...(certificateAuthority && { certificateAuthority: absoluteMaterial(certificateAuthority) }),
    },
    user: {
      ...user,
      ...(certificate && {
        certificate: {
          chain: absoluteMaterial(certificate.chain),
          key: absoluteMaterial(certificate.key),
        },
      }),
    },
  }
}

function absoluteMaterial<D>(material: Material<D>): Material<D> {
  if (material.from === 'data') return material
  const { path } = material
  const isHome = path === '~' || path.startsWith('~/')
  return { ...material, path: isHome ? join(homedir(), path.slice(1)) : resolve(path) }
}
