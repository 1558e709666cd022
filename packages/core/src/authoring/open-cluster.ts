import { ExecInfoError, isCredentialError } from '../errors/index.ts'
import { clusterTarget } from '../kubeconfig/cluster-target.ts'
import type { ClusterTarget } from '../kubeconfig/connection.ts'
import { NO_CLUSTER, NO_USER } from '../kubeconfig/kubeconfig.ts'
import { clusterProblems } from '../kubeconfig/validate-cluster.ts'
import { hostEnvironment } from '../node/host-environment.ts'
import { loadAuthority } from '../node/load-authority.ts'
import { nodeFiles } from '../node/node-files.ts'
import type { PluginCluster } from '../protocol/decode-exec-info.ts'
import { defaultHeaders, type HeaderValues } from '../transport/default-headers.ts'
import type { Exchange, Incoming } from '../transport/exchange.ts'
import { httpsExchange } from '../transport/https-exchange.ts'
import { makeResponse } from '../transport/lazy-response.ts'
import { explainNetworkError } from '../transport/network-errors.ts'
import { asRequest, makeOutgoing, type Outgoing } from '../transport/outgoing.ts'
import { proxyFromEnvironment } from '../transport/proxy-from-environment.ts'
import { readProxy } from '../transport/proxy-server.ts'
import { followTo, isRedirect } from '../transport/redirect.ts'
import { findPlace, isStreaming, makeTarget, type Place, type Target } from '../transport/target.ts'
import { Derived } from '../vault/derived.ts'
import { VERSION } from '../version.ts'

/** Connections to a cluster without any identity. */
export class AnonymousCluster {
  readonly #target: Target
  readonly #headers: HeaderValues
  readonly #exchange: Exchange = httpsExchange()
  readonly #connections = new Derived()

  constructor(target: Target, headers: HeaderValues) {
    this.#target = target
    this.#headers = headers
  }

  /** Does as `cluster.fetch` does, but attaches nothing: the same rule about origins and redirects. */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const target = this.#target
    let place = findPlace(asRequest(input)?.url ?? (input as string | URL), target)
    const outgoing = await makeOutgoing(input, init, this.#headers)
    let incoming = await this.#send(place, outgoing)
    for (let hops = 0; isRedirect(incoming) && init?.redirect !== undefined; hops += 1) {
      const { redirect: mode } = init
      const next = followTo(incoming, place, { target, mode, method: outgoing.method, hops })
      if (next === undefined) break
      incoming.body.resume()
      place = next
      incoming = await this.#send(place, outgoing)
    }
    return makeResponse(incoming, target.origin + place.pathname + place.search)
  }

  async close(reason: Error): Promise<void> {
    await this.#connections.destroy(reason)
  }

  async #send(place: Place, { method, headers, body, signal }: Outgoing): Promise<Incoming> {
    signal?.throwIfAborted()
    const anonymous = { credential: {}, derived: this.#connections }
    try {
      return await this.#exchange.send(this.#target, anonymous, {
        method,
        path: place.pathname + place.search,
        headers,
        body: body(),
        signal,
        isStream: isStreaming(place),
        round: 0,
        passage: { done: () => {} },
        checkOpen: () => {},
        wire: new Set(),
      })
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      throw isCredentialError(error) ? error : explainNetworkError(error, this.#target.origin)
    }
  }
}

/**
 * Opens the cluster that a plugin was told of, under the rules a kubeconfig's entry has.
 *
 * @throws {ExecInfoError | CertificateInvalidError} Nothing was sent.
 */
export async function openCluster(cluster: PluginCluster): Promise<AnonymousCluster> {
  const checked = check(cluster)
  const ca = await loadAuthority(checked, nodeFiles)
  const { server, tlsServerName, insecureSkipTlsVerify, disableCompression, proxyUrl } = checked
  const proxy =
    proxyUrl === undefined
      ? proxyFromEnvironment(server, hostEnvironment())
      : readProxy(proxyUrl, 'proxy-url')
  const target = makeTarget(
    server,
    { ca, serverName: tlsServerName, insecure: insecureSkipTlsVerify },
    proxy,
  )
  const userAgent = `kubecred-plugin/${VERSION}`
  return new AnonymousCluster(target, defaultHeaders({ userAgent, disableCompression }))
}

/** The fields are those of a kubeconfig's cluster, so its rules are these too. */
function check(cluster: PluginCluster): ClusterTarget {
  const { config: _, ...fields } = cluster
  const entry = { ...NO_CLUSTER, ...fields, name: 'spec.cluster' }
  const problems = clusterProblems(entry)
  if (problems.length > 0) {
    throw new ExecInfoError(
      'spec.cluster',
      problems.map(({ what }) => what.replace(/^cluster "spec\.cluster" /, '')).join('; '),
      {
        hint: [...new Set(problems.map(({ remedy }) => remedy))].join(' '),
      },
    )
  }
  return clusterTarget(entry, NO_USER)
}
