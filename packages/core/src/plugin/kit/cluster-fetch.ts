import { ClosedError } from '../../errors/index.ts'
import type { PluginInfo } from '../exec-info.ts'
import type { AnonymousCluster } from './open-cluster.ts'
import { knownCluster } from './plugin-cluster.ts'

/** The global `fetch` for one cluster: takes a path, or a URL of that cluster. */
export interface ClusterFetch {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Ends its connections. */
  close(): Promise<void>
}

/**
 * Makes a fetch to the cluster that a plugin is asked for, with its CA, server name and proxy.
 *
 * It is anonymous: no credential is attached, since the plugin is still to make one. A caller's own
 * `Authorization` is sent to this cluster and to no other.
 *
 * @throws {ExecInfoError} When the client said nothing of the cluster.
 *
 * @example
 * const fetch = clusterFetch(await readExecInfo())
 * const { gitVersion } = await (await fetch('/version')).json()
 */
export function clusterFetch(info: PluginInfo): ClusterFetch {
  const cluster = knownCluster(info)
  let opened: Promise<AnonymousCluster> | undefined
  let isClosed = false
  const open = async (): Promise<AnonymousCluster> => {
    // Loaded with the first request: most plugins send none, and all of them should start fast.
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
    // A cluster that could not be opened has told its reason to those who asked.
    await opened?.then((made) => made.close()).catch(() => {})
  }
  return Object.assign(fetch, { close })
}
