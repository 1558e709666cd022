import { ClosedError } from '../../errors/index.ts'
import type { PluginInfo } from '../exec-info.ts'
import type { AnonymousCluster } from './open-cluster.ts'
import { requireCluster } from './plugin-cluster.ts'

/** A `fetch` for one cluster. Takes a path, or a URL of that cluster. */
export interface ClusterFetch {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Closes its connections. */
  close(): Promise<void>
}

/**
 * Returns a fetch for the cluster that the credential is for, with its CA, server name and proxy.
 *
 * It is anonymous, because the plugin does not have a credential yet. An `Authorization` header of the caller is sent
 * to this cluster only.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO` if the client did not describe the cluster.
 *
 * @example
 * const fetch = clusterFetch(await readExecInfo())
 * const { gitVersion } = await (await fetch('/version')).json()
 */
export function clusterFetch(info: PluginInfo): ClusterFetch {
  const cluster = requireCluster(info)
  let opened: Promise<AnonymousCluster> | undefined
  let isClosed = false
  const open = async (): Promise<AnonymousCluster> => {
    // Loaded with the first request: most plugins send none, and all should start fast.
    const { openCluster } = await import('./open-cluster.ts')
    return openCluster(cluster)
  }
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    if (isClosed) throw new ClosedError()
    opened ??= open()
    return (await opened).fetch(input, init)
  }
  const close = async (): Promise<void> => {
    isClosed = true
    // If opening failed, the requests were already rejected with the reason.
    await opened?.then((made) => made.close()).catch(() => {})
  }
  return Object.assign(fetch, { close })
}
