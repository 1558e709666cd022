import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Credential } from '../credential/credential.ts'
import { UNAUTHORIZED } from '../credential/refusal.ts'
import type { Keeper } from '../keeper/keeper.ts'
import type { Connection, Endpoint, Material, UserIdentity } from '../kubeconfig/connection.ts'
import { loadAuthority, watchAuthority } from '../node/certificate-authority.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { nodeFiles } from '../node/node-files.ts'
import type { BorrowedKeeper } from '../node/process-registry.ts'
import { systemClock } from '../node/system-clock.ts'
import { Secret } from '../secret/secret.ts'
import { chooseSource } from '../sources/choose-source.ts'
import type { AcquireContext, Source } from '../sources/source.ts'
import { isSame, type LoginListener, type OpenedLogin } from '../vault/login-source.ts'
import type { Login } from '../vault/read-connection-info.ts'
import type { ConnectOptions } from './connect-options.ts'
import { openKeeper } from './open-keeper.ts'

/**
 * Opens what a login handler returned: reads its files, and finds its plugin if it has one.
 *
 * @throws {CredentialError} When it cannot be used, with the field or file that is to blame.
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
      // Each time would be too often: a login that is renewed every few minutes stays as odd as it was.
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
 * Plugins, external signers and logins at an issuer run once for all connections of the process: they have a keeper of
 * their own in the process registry, which other connections may use too.
 */
function isShared({ exec, oidc, externalSigner }: UserIdentity): boolean {
  return [exec, oidc, externalSigner].some((each) => each !== undefined)
}

function sharedCredentials(
  borrowed: BorrowedKeeper,
  { onChange, observe }: LoginListener,
): OpenedLogin {
  const { keeper } = borrowed
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
      return borrowed.release()
    },
  }
}

async function leaseShared(
  keeper: Keeper,
  { reason, refusal, signal }: AcquireContext,
  last: Credential | undefined,
): Promise<Credential> {
  const { held } = keeper
  // The refusal was reported as one of the login.
  if (reason === 'refused' && held !== undefined && isSame(held.credential.credential, last)) {
    await keeper.waitForBetter(held.credential, refusal ?? UNAUTHORIZED, signal)
  }
  return (await keeper.lease(signal)).credential
}

/**
 * Everything else is in the login itself or in files. The keeper of the handler is its only keeper, and what it holds
 * has no end of its own: a file that changes is read again, and the handler is asked only if its credential is new.
 */
function ownCredentials(source: Source, { onChange, report }: LoginListener): OpenedLogin {
  const life = new AbortController()
  const { signal } = life
  const readAgain = async (): Promise<void> => {
    try {
      const { credential } = await source.acquire({ reason: 'ahead', signal, report })
      if (!signal.aborted) onChange(credential)
    } catch {
      // It could not be read before either: the login fails, and reports why.
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

/** Names for keys, which are objects: the same one is the same identity, another one is another. */
export type KeyIds = WeakMap<object, string>

function withKey(connection: Connection, { signing }: Login, keyIds: KeyIds): Connection {
  if (signing === undefined) return connection
  const { chain, signingKey, given } = signing
  const id = keyIds.get(given) ?? randomUUID()
  keyIds.set(given, id)
  const user = { ...connection.user, signing: { chain: settled(chain), signingKey, id } }
  return { ...connection, user }
}

/** Paths of a login are relative to where the program runs; `~` is the home folder. */
function withPaths(connection: Connection): Connection {
  const { cluster, user } = connection
  const { certificateAuthority } = cluster
  const { certificate } = user
  return {
    ...connection,
    cluster: {
      ...cluster,
      ...(certificateAuthority && { certificateAuthority: settled(certificateAuthority) }),
    },
    user: {
      ...user,
      ...(certificate && {
        certificate: { chain: settled(certificate.chain), key: settled(certificate.key) },
      }),
    },
  }
}

function settled<D>(material: Material<D>): Material<D> {
  if (material.from === 'data') return material
  const { path } = material
  const isHome = path === '~' || path.startsWith('~/')
  return { ...material, path: isHome ? join(homedir(), path.slice(1)) : resolve(path) }
}
