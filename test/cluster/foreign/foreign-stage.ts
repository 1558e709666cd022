import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPrograms } from '../harness/read-programs.ts'
import { startCluster } from '../harness/start-cluster.ts'
import { TestCluster } from '../harness/test-cluster.ts'
import { until } from '../harness/until.ts'
import { AwsWebhook } from './aws-webhook.ts'
import { LoginIssuer } from './login-issuer.ts'

/** A cluster that knows the people whom foreign plugins speak for. */
export interface ForeignStage extends AsyncDisposable {
  readonly cluster: TestCluster
  readonly issuer: LoginIssuer
  readonly webhook: AwsWebhook
}

/** Starts a cluster of its own: which tokens an API server takes is said when it is started. */
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

/** Whoever is known may do everything: the question is who is known. */
async function letEverybodyIn(cluster: TestCluster): Promise<void> {
  await cluster.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'everybody' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' },
    ],
  })
  // The server learns of bindings a moment later.
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const resourceAttributes = { verb: 'list', resource: 'namespaces' }
  const spec = { user: 'anybody', groups: ['system:authenticated'], resourceAttributes }
  await until(async () => (await cluster.create(path, { spec })).status.allowed)
}

/** The server asks an issuer for its keys in the background, and refuses its tokens until it has them. */
async function untilKnown(cluster: TestCluster, issuer: LoginIssuer): Promise<void> {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews'
  await until(async () => {
    const { status } = await cluster.create(path, { spec: { token: issuer.idToken() } })
    return status.authenticated
  })
}
