import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Credential } from '../credential/credential.ts'
import { UNAUTHORIZED } from '../credential/refusal.ts'
import type { Connection, Endpoint, Material } from '../kubeconfig/connection.ts'
import { followAuthority, loadAuthority } from '../node/certificate-authority.ts'
import { nodeFiles } from '../node/node-files.ts'
import type { Borrowed } from '../node/process-registry.ts'
import { Secret } from '../secret/secret.ts'
import type { Ask } from '../sources/source.ts'
import type { Audience } from '../vault/event-filter.ts'
import type { OpenedLogin } from '../vault/login-source.ts'
import type { Login } from '../vault/read-connection-info.ts'
import type { ConnectOptions } from './connect-options.ts'
import { openKeeper } from './open-keeper.ts'

/**
 * Opens what a login handler returned: reads its files, and finds its plugin if it has one.
 *
 * The audience hears what the plugin does, for as long as the login is open.
 *
 * @throws {CredentialError} When it cannot be used, with the field or file that is to blame.
 */
export async function openLogin(
  login: Login,
  options: ConnectOptions,
  { audience, keyIds }: { readonly audience: Audience; readonly keyIds: KeyIds },
): Promise<OpenedLogin> {
  const connection = withKey(withPaths(login.connection), login, keyIds)
  const { cluster, namespace } = connection
  const ca = await loadAuthority(cluster, nodeFiles)
  const borrowed = await openKeeper(connection, ca, options)
  const dismiss = audience.admit(borrowed.keeper)
  const { priority, trustEnv } = login
  const { impersonate } = connection.user
  const endpoint: Endpoint = {
    cluster,
    ca,
    namespace,
    trustEnv,
    priority,
    ...(impersonate && { impersonate }),
  }
  return {
    async acquire(ask, last) {
      // Each time would be too often: a login that is renewed every few minutes stays as odd as it was.
      if (ask.reason === 'first') {
        for (const message of connection.warnings) ask.report({ type: 'warning', message })
      }
      const credential = await lease(borrowed, ask, last)
      const { scheme } = login
      return {
        credential: { ...credential, ...(scheme !== undefined && { scheme: new Secret(scheme) }) },
        expiresAt: expiryOf(connection, borrowed),
        endpoint,
      }
    },
    watch: (onChange) => watch({ cluster, ca }, borrowed, onChange),
    release() {
      dismiss()
      return borrowed.release()
    },
  }
}

async function lease(
  { keeper }: Borrowed,
  { reason, refusal, signal }: Ask,
  last: Credential | undefined,
): Promise<Credential> {
  const { held } = keeper
  const isRefused = reason === 'refused' && last !== undefined && held !== undefined
  if (isRefused && isSame(held.credential.credential, last)) {
    await keeper.replace(held.credential, refusal ?? UNAUTHORIZED, signal)
  }
  return (await keeper.lease(signal)).credential
}

function isSame(one: Credential, other: Credential): boolean {
  return (
    one.token?.expose() === other.token?.expose() &&
    one.certificate?.chain === other.certificate?.chain &&
    one.basic?.password.expose() === other.basic?.password.expose()
  )
}

/** Files are read again when they change; only what a plugin or an issuer gave has an end of its own. */
function expiryOf({ user }: Connection, { keeper }: Borrowed): number {
  const isFetched = [user.exec, user.oidc, user.externalSigner].some((each) => each !== undefined)
  return (isFetched ? keeper.held?.expiresAt : undefined) ?? Number.POSITIVE_INFINITY
}

function watch(
  { cluster, ca }: Pick<Endpoint, 'cluster' | 'ca'>,
  { keeper }: Borrowed,
  onChange: () => void,
): () => void {
  const stopKeeper = keeper.watch((event) => {
    if (event.type === 'run-succeeded' && !event.isSame && event.reason !== 'first') onChange()
  })
  const stopFile = followAuthority(cluster, ca, nodeFiles, {
    onChange,
    onProblem: (message) => keeper.report({ type: 'warning', message }),
    onReload: (reload) => keeper.report({ type: 'ca-reload', ...reload }),
  })
  return () => {
    stopKeeper()
    stopFile()
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
