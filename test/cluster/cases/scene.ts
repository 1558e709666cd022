import type { KubeconfigUser } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import type {
  Driver,
  Opened,
  Sent,
  Upgraded,
} from '../../../packages/core/test/transports/driver.ts'
import { type AuditEvent, credentialOf } from '../harness/audit.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { until } from '../harness/until.ts'

/** A client with one transport and one kubeconfig user, connected to the real cluster. */
export class Scene implements AsyncDisposable {
  readonly cluster: TestCluster
  readonly client: Opened
  readonly #close: () => Promise<void>
  readonly #mark: string

  private constructor(cluster: TestCluster, client: Opened, close: () => Promise<void>) {
    this.cluster = cluster
    this.client = client
    this.#close = close
    this.#mark = cluster.unique('mark')
  }

  static async open(driver: Driver, cluster: TestCluster, user: KubeconfigUser): Promise<Scene> {
    const kubeconfig = cluster.kubeconfig({ user })
    const ours = await connect({ kubeconfig })
    const client = await driver.open(ours, {
      kubeconfig,
      connect: (more) => connect({ kubeconfig, ...more }),
    })
    return new Scene(cluster, client, async () => {
      await client.close()
      await ours.close()
    })
  }

  /** Sends a list request, and returns the status. A mark in its URL identifies it in the audit log. */
  async ask(): Promise<number> {
    const path = `/api/v1/namespaces/default/configmaps?limit=1&fieldManager=${this.#mark}`
    return (await this.send({ path })).status
  }

  /** Sends a request and reads the whole response. */
  async send(request: Sent): Promise<{ status: number; text: string; headers: object }> {
    const { status, body, headers } = await this.client.send(request)
    let text = ''
    for await (const chunk of body.setEncoding('utf8')) text += chunk as string
    return { status, text, headers }
  }

  upgrade(namespace: string, pod: string): Promise<Upgraded> {
    if (this.client.upgrade === undefined)
      throw new Error('this client opens no upgraded connections')
    return this.client.upgrade({ namespace, pod })
  }

  /** Waits until the audit log has so many requests of {@link ask}, and returns them. */
  async seen(count = 1): Promise<AuditEvent[]> {
    let events: AuditEvent[] = []
    await until(() => {
      events = lastOfEach(this.cluster.seen(this.#mark))
      return events.length >= count
    })
    return events
  }

  /** The distinct users in the audit log. */
  async users(count = 1): Promise<(string | undefined)[]> {
    return distinct((await this.seen(count)).map(({ user }) => user.username))
  }

  /** The distinct credentials in the audit log. */
  async credentials(count = 1): Promise<(string | undefined)[]> {
    return distinct((await this.seen(count)).map(credentialOf))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}

/** A refused request has one audit event, others may have two. */
function lastOfEach(events: readonly AuditEvent[]): AuditEvent[] {
  return [...new Map(events.map((event) => [event.auditID, event])).values()]
}

export function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
