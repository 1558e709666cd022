import type { TestCluster } from '../harness/test-cluster.ts'

/** A token of a service account that is bound to an object. */
interface BoundToken {
  readonly token: string
  /** Deletes the object it is bound to, which invalidates it as if it had expired. */
  end(): Promise<void>
}

/** A role that a controller manager would aggregate into "view". */
const VIEW = 'system:aggregate-to-view'

/** A service account that may read nearly everything, or nothing. */
export class ServiceAccount {
  readonly namespace: string
  readonly name: string
  readonly #cluster: TestCluster

  private constructor(cluster: TestCluster, namespace: string, name: string) {
    this.#cluster = cluster
    this.namespace = namespace
    this.name = name
  }

  static async create(
    cluster: TestCluster,
    namespace: string,
    name = 'app',
    rights: 'view' | 'no rights' = 'view',
  ): Promise<ServiceAccount> {
    const base = `/api/v1/namespaces/${namespace}/serviceaccounts`
    await cluster.create(base, { metadata: { name } })
    if (rights === 'view') {
      await cluster.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        metadata: { name: cluster.unique('reads') },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: VIEW },
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      })
    }
    return new ServiceAccount(cluster, namespace, name)
  }

  get user(): string {
    return `system:serviceaccount:${this.namespace}:${this.name}`
  }

  /**
   * Requests a token from the TokenRequest API, as the kubelet does. Its minimum lifetime is ten minutes.
   *
   * @param audiences By default that of the API server.
   */
  async token(audiences?: readonly string[]): Promise<BoundToken> {
    const base = `/api/v1/namespaces/${this.namespace}`
    const name = this.#cluster.unique('bound')
    await this.#cluster.create(`${base}/secrets`, { metadata: { name } })
    const { status } = await this.#cluster.create(`${base}/serviceaccounts/${this.name}/token`, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: {
        expirationSeconds: 600,
        boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name },
        ...(audiences && { audiences }),
      },
    })
    const end = async (): Promise<void> => {
      await this.#cluster.admin('DELETE', `${base}/secrets/${name}`)
    }
    return { token: status.token, end }
  }
}
