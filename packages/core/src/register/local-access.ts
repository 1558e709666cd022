import type { Cluster } from '../connect/cluster.ts'
import type { Environment } from '../formats/plain-object.ts'
import { makeProcessFolder, type ProcessFolder } from '../node/process-folder.ts'
import { type Access, childEnvironment } from './child-environment.ts'
import { childKubeconfig, type ProxyAddress } from './child-kubeconfig.ts'
import { type LocalProxy, startLocalProxy } from './local-proxy.ts'

/** A proxy for one program, and the files and variables with which the program finds it. */
export interface LocalAccess extends ProxyAddress {
  /** The environment of the program. */
  readonly env: Readonly<Record<string, string>>
  /** The folder with the files. */
  readonly folder: string
  /** Removes the files, and closes the proxy and all connections. */
  close(): Promise<void>
}

/** For whom the proxy is, the environment of the user, and the clock. */
export interface LocalAccessOptions {
  readonly kind: 'run' | 'register'
  readonly env: Environment
  readonly now: () => number
}

/**
 * Starts a proxy for one program, and writes the files that the program needs.
 *
 * @throws {NoPrivateFolderError}
 */
export async function openLocalAccess(
  cluster: Cluster,
  { kind, env, now }: LocalAccessOptions,
): Promise<LocalAccess> {
  const folder = makeProcessFolder(kind, env)
  let proxy: LocalProxy | undefined
  const close = async (): Promise<void> => {
    folder.remove()
    await proxy?.close()
  }
  try {
    proxy = await startLocalProxy(cluster, now)
    const access = writeAccess(folder, cluster, proxy)
    return { ...proxy, env: childEnvironment(env, access), folder: folder.path, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Writes the files that tools read. */
function writeAccess(folder: ProcessFolder, cluster: Cluster, proxy: LocalProxy): Access {
  const { url, secret, ca } = proxy
  return {
    kubeconfig: folder.write('config', childKubeconfig(cluster.status(), proxy)),
    url,
    secret,
    ca: folder.write('ca.crt', ca),
    header: folder.write('header', `Authorization: Bearer ${secret}\n`),
  }
}
