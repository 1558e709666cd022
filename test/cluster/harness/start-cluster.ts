import { writeKubeconfig } from '../../../packages/sandbox/src/kubeconfig/write-kubeconfig.ts'
import { ApiServer } from './api-server.ts'
import { issue, makeAuthority } from './certificates.ts'
import type { ClusterFacts } from './cluster-facts.ts'
import { type Etcd, startEtcd } from './etcd.ts'
import { type Kwok, startKwok } from './kwok.ts'
import { LOOPBACK, makeStage, type Programs } from './stage.ts'
import { TokenIssuer, type TrustedIssuer } from './token-issuer.ts'

export interface ClusterOptions {
  /** Whether to start kwok, for a node and running pods. */
  readonly kwok?: boolean
  /** Issuers whose tokens the API server accepts, in addition to the suite's. */
  readonly issuers?: readonly TrustedIssuer[]
  /** More flags for kube-apiserver. */
  readonly flags?: readonly string[]
}

/** A real cluster on this machine. */
export interface RunningCluster extends AsyncDisposable {
  readonly facts: ClusterFacts
  readonly api: ApiServer
  readonly etcd: Etcd
  readonly kwok: Kwok | undefined
  close(): Promise<void>
}

/** Starts etcd, kube-apiserver and optionally kwok. They end with {@link RunningCluster.close} or with this process. */
export async function startCluster(
  programs: Programs,
  options: ClusterOptions = {},
): Promise<RunningCluster> {
  const stage = makeStage(programs)
  const authority = await makeAuthority('issuer-ca')
  const identity = await issue('issuer-ca', authority, { user: 'issuer', names: LOOPBACK })
  const issuer = await TokenIssuer.start(identity, authority.certificate)
  const closers: (() => Promise<void>)[] = [() => issuer.close()]
  const close = async (): Promise<void> => {
    // In reverse order of the start, so that no program loses one that it depends on.
    for (const end of closers.splice(0).reverse()) await end()
    await stage.watchdog.close()
  }
  try {
    const etcd = await startEtcd(stage)
    closers.push(() => etcd.program.stop())
    const issuers = [issuer, ...(options.issuers ?? [])]
    const api = await ApiServer.start(stage, etcd.flags, issuers, options.flags)
    closers.push(() => api.program.stop())
    const { access, clients, staticUser, auditFile } = api
    const { folder } = stage
    const kubeconfig = writeKubeconfig(
      { path: `${folder}/admin.json`, user: { certificate: access.certificate, key: access.key } },
      { url: access.server, caPem: access.caPem, folder },
    )
    const kwok = options.kwok === true ? await startKwok(stage, access, kubeconfig) : undefined
    if (kwok !== undefined) closers.push(() => kwok.program.stop())
    const facts: ClusterFacts = {
      access,
      clients,
      staticUser,
      issuer: { url: issuer.url, key: issuer.key },
      folder,
      auditFile,
      podLogFile: kwok?.logFile ?? '',
      kubeconfig,
      programs,
    }
    return { facts, api, etcd, kwok, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
