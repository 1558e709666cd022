import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type V1Namespace,
} from '@kubernetes/client-node'
import { attach } from '../../../packages/core/src/adapters/client-node/index.ts'
import { isCredentialError } from '../../../packages/core/src/errors/index.ts'
import { type Cluster, connect } from '../../../packages/core/src/index.ts'
import { Watches } from '../../request-watches.ts'
import type { Client, Opening, Sending } from './script.ts'
import { until } from './until.ts'

const NAMESPACES = '/api/v1/namespaces'
const RESTART_MS = 200

/** kubecred as a compared client: cluster.fetch for requests, client-node's informer with attach. */
export class KubecredClient implements Client {
  readonly #home: string
  readonly #clusters: Cluster[] = []
  readonly #watches = new Watches()
  readonly #informers: { readonly names: Set<string>; stop(): Promise<void> }[] = []
  readonly trouble: string[] = []
  #kubeconfig = ''

  constructor(home: string) {
    this.#home = home
  }

  async open({ count = 1, env, stdinUnavailable, ...options }: Opening) {
    this.#kubeconfig = options.kubeconfig
    for (let nth = 0; nth < count; nth += 1) {
      const opened = await this.#orError(() =>
        connect({
          ...options,
          ...(stdinUnavailable && { stdinUnavailable: '' }),
          env: { HOME: this.#home, PATH: process.env['PATH'], ...env },
        }),
      )
      if (opened === 'error') return 'refused'
      this.#clusters.push(opened)
    }
    return undefined
  }

  send({ times = 1, client = 0, path = NAMESPACES, ...init }: Sending) {
    const clusters = client === 0 ? this.#clusters : this.#clusters.slice(client - 1, client)
    const sending = Array.from({ length: times }, (_, nth) =>
      this.#orError(async () => {
        const response = await (clusters[nth % clusters.length] as Cluster).fetch(path, {
          ...init,
          headers: { ...init.headers },
        })
        await response.text()
        // A connection is free one turn of the event loop after the end of the body.
        await new Promise(setImmediate)
        return response.status
      }),
    )
    return Promise.all(sending)
  }

  watch(path: string): Promise<number | 'error'> {
    if (path !== `${NAMESPACES}?watch=true`) throw new Error(`cannot watch ${path}`)
    return this.#orError(() => this.#watches.open(this.#clusters[0] as Cluster))
  }

  see(name: string): Promise<boolean> {
    return this.#watches.see(name).then(
      () => true,
      () => false,
    )
  }

  async inform(): Promise<boolean> {
    const config = new KubeConfig()
    config.loadFromFile(this.#kubeconfig)
    const attachment = attach(config, { kubeconfig: this.#kubeconfig })
    const api = config.makeApiClient(CoreV1Api)
    const informer: Informer<V1Namespace> = makeInformer(config, NAMESPACES, () =>
      api.listNamespace(),
    )
    const names = new Set<string>()
    let isOver = false
    informer.on('add', ({ metadata }) => names.add(metadata?.name ?? ''))
    // As client-node's documentation says, the program must restart an informer after an error.
    informer.on('error', () => setTimeout(() => isOver || informer.start(), RESTART_MS))
    this.#informers.push({
      names,
      async stop() {
        isOver = true
        await informer.stop()
        await attachment.close()
      },
    })
    await informer.start()
    return until(() => names.size > 0)
  }

  informed(name: string): Promise<boolean> {
    return until(() => this.#informers.every(({ names }) => names.has(name)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const informer of this.#informers) await informer.stop()
    await this.#watches.close()
    await Promise.all(this.#clusters.map((cluster) => cluster.close()))
  }

  /** Rethrows any other error, which is a bug. */
  async #orError<T>(work: () => Promise<T>): Promise<T | 'error'> {
    try {
      return await work()
    } catch (error) {
      if (!isCredentialError(error)) throw error
      this.trouble.push(`${error.code}: ${error.message}`)
      return 'error'
    }
  }
}
