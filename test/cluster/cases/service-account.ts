import { expect } from 'vitest'
import { type Driver, returnsRefusals } from '../../../packages/core/test/transports/driver.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import { until } from '../harness/until.ts'
import { Scene } from './scene.ts'

/**
 * A token of the TokenRequest API becomes invalid with its account.
 *
 * The server caches a valid token for ten seconds, so it refuses the token some time after the deletion. None of the
 * requests sent meanwhile may fail.
 */
export async function serviceAccount(driver: Driver, cluster: TestCluster): Promise<void> {
  const namespace = await cluster.namespace()
  const [first, second] = [
    await account(cluster, namespace, 'one'),
    await account(cluster, namespace, 'two'),
  ]
  const plugin = cluster.plugin().answer({ token: await requestToken(cluster, first) })
  await using scene = await Scene.open(driver, cluster, { exec: plugin.exec })
  // RBAC notices a new binding with a delay.
  await until(async () => (await scene.ask()) === 200)
  expect(await scene.users()).toEqual([`system:serviceaccount:${namespace}:one`])
  plugin.answer({ token: await requestToken(cluster, second) })
  await cluster.admin('DELETE', first)
  const statuses = new Set<number>()
  let asked = (await scene.seen()).length
  await until(async () => {
    statuses.add(await scene.ask())
    asked += 1
    return (await scene.users(asked)).includes(`system:serviceaccount:${namespace}:two`)
  })
  if (!returnsRefusals(driver)) expect([...statuses]).toEqual([200])
  expect(plugin.runs).toBe(2)
}

/** Creates a service account that may do everything in one namespace, and returns its path. */
async function account(cluster: TestCluster, namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await cluster.create(path, { metadata: { name } })
  await cluster.create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
    metadata: { name: cluster.unique(name) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  })
  return `${path}/${name}`
}

async function requestToken(cluster: TestCluster, path: string): Promise<string> {
  // The minimum of the API server is ten minutes.
  const request = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: { expirationSeconds: 600 },
  }
  const { status } = await cluster.create(`${path}/token`, request)
  return status.token
}
