import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Connection, Endpoint, Material } from '../kubeconfig/connection.ts'
import { loadAuthority } from '../node/load-authority.ts'
import { nodeFiles } from '../node/node-files.ts'
import type { Borrowed } from '../node/process-registry.ts'
import type { Credential } from '../protocol/credential.ts'
import { Secret } from '../secret/secret.ts'
import type { Ask } from '../sources/source.ts'
import type { Login } from '../vault/connection-info.ts'
import type { OpenedLogin } from '../vault/login-source.ts'
import type { ConnectOptions } from './connect-options.ts'
import { openKeeper } from './open-keeper.ts'

/**
 * Opens what a login handler returned: reads its files, and finds its plugin if it has one.
 *
 * @throws {CredentialError} When it cannot be used, with the field or file that is to blame.
 */
export async function openLogin(login: Login, options: ConnectOptions): Promise<OpenedLogin> {
  const connection = withPaths(login.connection)
  const { cluster, namespace } = connection
  const ca = await loadAuthority(cluster, nodeFiles)
  const borrowed = await openKeeper(connection, ca, options)
  const { priority, trustEnv } = login
  const endpoint: Endpoint = { cluster, ca, namespace, trustEnv, priority }
  return {
    async acquire(ask, last) {
      const credential = await lease(borrowed, ask, last)
      const { scheme } = login
      return {
        credential: { ...credential, ...(scheme !== undefined && { scheme: new Secret(scheme) }) },
        expiresAt: expiryOf(connection, borrowed),
        endpoint,
      }
    },
    watch: (onChange) => watch(connection, borrowed, onChange),
    release: () => borrowed.release(),
  }
}

async function lease(
  { keeper }: Borrowed,
  { reason, response, signal, report }: Ask,
  last: Credential | undefined,
): Promise<Credential> {
  // What a plugin says to people while it runs, they must see.
  const stop = keeper.watch((event) => {
    if (event.type === 'plugin-stderr' || event.type === 'warning') report(event)
  })
  try {
    const { held } = keeper
    const isRefused = reason === 'refused' && last !== undefined && held !== undefined
    if (isRefused && isSame(held.credential.credential, last)) {
      await keeper.replace(held.credential, response ?? { code: 401, header: {} }, signal)
    }
    return (await keeper.lease(signal)).credential
  } finally {
    stop()
  }
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
  const isFetched = user.exec !== undefined || user.oidc !== undefined
  return (isFetched ? keeper.held?.expiresAt : undefined) ?? Number.POSITIVE_INFINITY
}

function watch({ cluster }: Connection, { keeper }: Borrowed, onChange: () => void): () => void {
  const stopKeeper = keeper.watch((event) => {
    if (event.type === 'run-succeeded' && !event.isSame && event.reason !== 'first') onChange()
  })
  const { certificateAuthority } = cluster
  const stopFile =
    certificateAuthority?.from === 'file'
      ? nodeFiles.watch(certificateAuthority.path, onChange)
      : undefined
  return () => {
    stopKeeper()
    stopFile?.()
  }
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
  return { from: 'file', path: isHome ? join(homedir(), path.slice(1)) : resolve(path) }
}
