import { Served } from '../../../packages/cli/test/proxy/proxy-process.ts'
import { PROGRAM, Running } from '../../../packages/cli/test/spawn-program.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { type Rendered, render } from './admin-kubectl.ts'
import { ServiceAccount } from './bound-tokens.ts'

const OVERLAY = 'overlays/token-review'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const PROXY = 'kubecred-proxy'
/** The audience of the manifest. */
export const AUDIENCE = 'kubecred-proxy'

/** A proxy with the rights and the flags of the manifest, for callers of one namespace. */
export class CallersScene {
  readonly #cluster: TestCluster
  readonly #flags: readonly string[]
  /** The namespace whose service accounts the proxy may act as. */
  readonly namespace: string
  /** The account of the proxy. */
  readonly proxy: ServiceAccount

  private constructor(
    cluster: TestCluster,
    flags: readonly string[],
    { namespace, proxy }: Pick<CallersScene, 'namespace' | 'proxy'>,
  ) {
    this.#cluster = cluster
    this.#flags = flags
    this.namespace = namespace
    this.proxy = proxy
  }

  static async create(cluster: TestCluster): Promise<CallersScene> {
    const items = render(cluster, OVERLAY)
    const args: string[] = items.find(isDeployment)?.spec.template.spec.containers[0].args
    const flags = args.filter((arg) => /^--(?:authenticate|caller|impersonate)/.test(arg))
    const own = await cluster.namespace()
    const proxy = await ServiceAccount.create(cluster, own, PROXY, 'no rights')
    const namespace = await cluster.namespace()
    const subjects = [{ kind: 'ServiceAccount', name: PROXY, namespace: own }]
    const bind = async (role: string, path: string): Promise<void> => {
      const name = cluster.unique(role)
      const { rules } =
        items.find(({ kind, metadata }) => isRole(kind) && metadata.name === role) ?? {}
      await cluster.create(`${RBAC}/clusterroles`, { metadata: { name }, rules })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
      await cluster.create(`${RBAC}/${path}`, { metadata: { name }, roleRef, subjects })
    }
    await bind(PROXY, 'clusterrolebindings')
    await bind(`${PROXY}-callers`, `namespaces/${namespace}/rolebindings`)
    return new CallersScene(cluster, flags, { namespace, proxy })
  }

  /** Starts the proxy on a free port, with the flags of the manifest about callers and further ones. */
  async start(...args: string[]): Promise<Served> {
    const { token } = await this.proxy.token()
    const kubeconfig = this.#cluster.kubeconfig({ user: { token } })
    const shared = ['--kubeconfig', kubeconfig, '--port=0', '--no-page', '--log-format=json']
    const all = [PROGRAM, 'proxy', '-o', 'json', ...shared, ...this.#flags, ...args]
    return Served.of(new Running(process.execPath, all))
  }
}

/** Returns the access log of a proxy that was started with `-o json`. */
export function accessLog({ running }: Served): Record<string, unknown>[] {
  const lines = running.out.split('\n').slice(1, -1)
  return lines.map((line) => JSON.parse(line))
}

const isDeployment = ({ kind }: Rendered): boolean => kind === 'Deployment'
const isRole = (kind: string): boolean => kind === 'ClusterRole'
