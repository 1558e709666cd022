import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPrograms } from '../harness/read-programs.ts'
import { startCluster } from '../harness/start-cluster.ts'
import { TestCluster } from '../harness/test-cluster.ts'
import { until } from '../harness/until.ts'
import { AwsWebhook } from './aws-webhook.ts'
import { LoginIssuer } from './login-issuer.ts'

/** A cluster that accepts the tokens of third-party plugins. */
export interface ForeignStage extends AsyncDisposable {
  readonly cluster: TestCluster
  readonly issuer: LoginIssuer
  readonly webhook: AwsWebhook
}

/** Starts a separate cluster, because the accepted tokens are configured at the start of an API server. */
export async function startForeignStage(): Promise<ForeignStage> {
  const closers: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end()
  }
  const use = <T extends AsyncDisposable>(part: T): T => {
    closers.push(() => part[Symbol.asyncDispose]())
    return part
  }
  try {
    const folder = mkdtempSync(join(tmpdir(), 'kubecred-foreign-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const issuer = use(await LoginIssuer.start())
    const webhook = use(await AwsWebhook.start())
    const config = join(folder, 'webhook.json')
    writeFileSync(config, JSON.stringify(webhook.config))
    const flags = [
      `--authentication-token-webhook-config-file=${config}`,
      '--authentication-token-webhook-version=v1',
      '--authentication-token-webhook-cache-ttl=0s',
    ]
    const { facts } = use(await startCluster(readPrograms(), { issuers: [issuer], flags }))
    const cluster = new TestCluster(facts)
    await letEverybodyIn(cluster)
    await untilKnown(cluster, issuer)
    return { cluster, issuer, webhook, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Allows everything to every authenticated user: the tests are about authentication. */
async function letEverybodyIn(cluster: TestCluster): Promise<void> {
  await cluster.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'all-users' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' },
    ],
  })
  // The server notices new bindings with a delay.
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const resourceAttributes = { verb: 'list', resource: 'namespaces' }
  const spec = { user: 'any-user', groups: ['system:authenticated'], resourceAttributes }
  await until(async () => (await cluster.create(path, { spec })).status.allowed)
}

/** Waits until the server has the issuer's keys: it fetches them in the background, and refuses tokens until then. */
async function untilKnown(cluster: TestCluster, issuer: LoginIssuer): Promise<void> {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews'
  await until(async () => {
    const { status } = await cluster.create(path, { spec: { token: issuer.idToken() } })
    return status.authenticated
  })
}
