import { parseProxyUrl, proxyFromEnvironment } from '../../dial/proxy.ts'
import { makeTarget, type Target } from '../../dial/target.ts'
import type { HeaderValues } from '../../exchange/exchange.ts'
import { httpsExchange } from '../../exchange/https.ts'
import { Keeper } from '../../keeper/keeper.ts'
import { loadAuthority } from '../../node/certificate-authority.ts'
import { hostEnvironment } from '../../node/environment.ts'
import { nodeCrypto } from '../../node/node-crypto.ts'
import { nodeFiles } from '../../node/node-files.ts'
import { systemClock } from '../../node/system-clock.ts'
import { fetchOver } from '../../request/fetch.ts'
import { defaultHeaders } from '../../request/headers.ts'
import { Line } from '../../request/line.ts'
import { staticSource } from '../../sources/static-source.ts'
import { VERSION } from '../../version.ts'
import type { PluginCluster } from '../exec-info.ts'
import { checkCluster } from './plugin-cluster.ts'

/** A connection to a cluster without a credential. */
export class AnonymousCluster {
  readonly #line: Line
  readonly #keeper = new Keeper(staticSource({}), { clock: systemClock, crypto: nodeCrypto })

  constructor(target: Target, defaults: HeaderValues) {
    this.#line = new Line({
      target,
      keeper: this.#keeper,
      defaults,
      refreshOn: [],
      limits: LIMITS,
      loadExchange: async () => httpsExchange(),
    })
  }

  /** Like `cluster.fetch`, with the same rules for origins and redirects, but without a credential. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return fetchOver(this.#line, input, init)
  }

  async close(): Promise<void> {
    await Promise.all([this.#line.close(), this.#keeper.close()])
  }
}

/** A plugin sends few requests. */
const LIMITS = { requests: 64, streams: 1000 }

/**
 * Opens an anonymous connection to the cluster in the input of a plugin, which is validated like a kubeconfig entry.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO`, before anything is sent.
 * @throws {CertificateInvalidError} `ERR_CERTIFICATE_INVALID`, before anything is sent.
 */
export async function openCluster(cluster: PluginCluster): Promise<AnonymousCluster> {
  const checked = checkCluster(cluster)
  const ca = await loadAuthority(checked, nodeFiles)
  const { server, tlsServerName, insecureSkipTlsVerify, disableCompression, proxyUrl } = checked
  const proxy =
    proxyUrl === undefined
      ? proxyFromEnvironment(server, hostEnvironment())
      : parseProxyUrl(proxyUrl, 'proxy-url')
  const target = makeTarget(
    server,
    { ca, serverName: tlsServerName, insecure: insecureSkipTlsVerify },
    proxy,
  )
  const userAgent = `kubecred-plugin/${VERSION}`
  return new AnonymousCluster(target, defaultHeaders({ userAgent, disableCompression }))
}
