import type { Cluster, ClusterStatus } from '../../connect/cluster.ts'
import { connect, openCluster } from '../../connect/connect.ts'
import type { ConnectOptions } from '../../connect/connect-options.ts'
import { ClosedError } from '../../errors/index.ts'
import type { Connection, Impersonation } from '../../kubeconfig/connection.ts'
import {
  findImpersonation,
  makeConnection,
  type Selection,
} from '../../logins/kube-config-object.ts'
import { LINE, type Line } from '../../request/line.ts'
import type { AttachOptions } from './attach-options.ts'

/** How many clusters without requests stay open, for programs that switch between contexts. */
const MAX_IDLE_CLUSTERS = 8

const NONE = Promise.resolve(undefined)

interface Entry {
  uses: number
  /** Undefined with login handlers, which provide everything except the impersonation. */
  connection: Promise<Connection | undefined>
  impersonation: Promise<Impersonation | undefined>
  opening?: Promise<Cluster>
  cluster?: Cluster
}

/**
 * The clusters of one KubeConfig: one for each selection (cluster and user) that it had.
 *
 * A selection that is no longer current may still have watches, which continue. After its last request it stays open in
 * case the program switches back to it; if there are too many of those, the oldest are closed.
 */
export class OpenClusters {
  readonly #options: AttachOptions
  /** The one that was used last is at the end. */
  readonly #entries = new Map<string, Entry>()
  /** Aborted by `close`, for requests that wait for a login. */
  readonly #closing = new AbortController()
  #isClosed = false

  constructor(options: AttachOptions) {
    this.#options = options
  }

  /** Returns the connection of a selection. Only reads files. */
  async connection(selection: Selection): Promise<Connection | undefined> {
    return this.#entry(selection).connection
  }

  /** Keeps the cluster of a selection open for a request. Returns a function to call when the request has ended. */
  hold(selection: Selection): () => void {
    if (this.#isClosed) return () => {}
    const entry = this.#entry(selection)
    entry.uses += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      entry.uses -= 1
      this.#trim()
    }
  }

  /** Returns the line of a selection, and opens its cluster if needed. */
  line(selection: Selection): Line | Promise<Line> {
    const entry = this.#entry(selection)
    if (entry.cluster !== undefined) return entry.cluster[LINE]
    return this.#open(entry).then((cluster) => cluster[LINE])
  }

  status(key: string | undefined): ClusterStatus | undefined {
    return this.#entries.get(key ?? '')?.cluster?.status()
  }

  statuses(): readonly ClusterStatus[] {
    return [...this.#entries.values()].flatMap(({ cluster }) => cluster?.status() ?? [])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.abort(new ClosedError())
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(entries.map(end))
  }

  /** @throws {ClosedError} `ERR_CLOSED` */
  #entry(selection: Selection): Entry {
    if (this.#isClosed) throw new ClosedError()
    const known = this.#entries.get(selection.key)
    const entry = known ?? this.#make(selection)
    this.#entries.delete(selection.key)
    this.#entries.set(selection.key, entry)
    if (known === undefined) this.#trim()
    return entry
  }

  #make(selection: Selection): Entry {
    const isVault = this.#options.vault !== undefined
    const connection = isVault ? NONE : makeConnection(selection, this.#options)
    const impersonation = isVault ? findImpersonation(selection, this.#options) : NONE
    const entry: Entry = { uses: 0, connection, impersonation }
    // The mistake may be corrected, so the next request tries again.
    const forget = (): void => this.#forget(selection.key, entry)
    connection.catch(forget)
    impersonation.catch(forget)
    return entry
  }

  #open(entry: Entry): Promise<Cluster> {
    entry.opening ??= this.#start(entry)
    return entry.opening
  }

  async #start(entry: Entry): Promise<Cluster> {
    const { signal: _, kubeconfig: __, ...options } = this.#options
    try {
      const connection = await entry.connection
      const { signal } = this.#closing
      entry.cluster = await (connection
        ? openCluster(connection, options)
        : connect({ ...options, ...asOptions(await entry.impersonation), signal }))
      return entry.cluster
    } catch (error) {
      delete entry.opening
      throw error
    }
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
  }

  #trim(): void {
    const idle = [...this.#entries].slice(0, -1).filter(([, { uses }]) => uses === 0)
    for (const [key, entry] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE_CLUSTERS))) {
      this.#entries.delete(key)
      void end(entry)
    }
  }
}

function asOptions(impersonation: Impersonation | undefined): ConnectOptions {
  if (impersonation === undefined) return {}
  const { user: as, uid: asUid, groups: asGroups, extra: asUserExtra } = impersonation
  return { as, asUid, asGroups, asUserExtra }
}

async function end({ opening }: Entry): Promise<void> {
  const cluster = await opening?.catch(() => undefined)
  await cluster?.close()
}
