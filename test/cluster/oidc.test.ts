import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  CLIENT_SECRET,
  type Issuer,
  startIssuer,
} from '../../packages/core/test/fixtures/oidc-issuer.ts'
import { prepare } from './harness/prepare.ts'
import { readPrograms } from './harness/read-programs.ts'
import { type RunningCluster, startCluster } from './harness/start-cluster.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

let issuer: Issuer
let running: RunningCluster
let cluster: TestCluster

beforeAll(async () => {
  issuer = await startIssuer({ tls: true, idTokenSeconds: 5, rotates: true })
  const trusted = { url: issuer.url, caPem: issuer.caPem ?? '', audience: 'kube' }
  running = await startCluster(readPrograms(), { issuers: [trusted] })
  cluster = new TestCluster(running.facts)
  await prepare(running.facts, { large: false })
  await cluster.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'jane' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  })
})
afterAll(async () => {
  await running?.close()
  await issuer?.close()
})

/** A user with `auth-provider: oidc` and an expired id token. */
async function oidcKubeconfig(): Promise<string> {
  const { access } = running.facts
  const path = join(cluster.folder('oidc'), 'kubeconfig')
  const config = {
    'idp-issuer-url': issuer.url,
    'idp-certificate-authority-data': Buffer.from(issuer.caPem ?? '').toString('base64'),
    'client-id': 'kube',
    'client-secret': CLIENT_SECRET,
    'id-token': issuer.idToken(-60_000),
    'refresh-token': await issuer.logIn(),
  }
  const ca = Buffer.from(access.caPem).toString('base64')
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'k', cluster: { server: access.server, 'certificate-authority-data': ca } },
      ],
      users: [{ name: 'u', user: { 'auth-provider': { name: 'oidc', config } } }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      'current-context': 'c',
    }),
    { mode: 0o600 },
  )
  return path
}

describe('OpenID Connect, with a real issuer and a real API server', () => {
  it('refreshes the id token repeatedly without a failed request', async () => {
    const ours = await connect({ kubeconfig: await oidcKubeconfig() })
    const mark = cluster.unique('mark')
    const before = issuer.refreshes
    const statuses = new Set<number>()
    await until(async () => {
      const answer = await ours.fetch(`/api/v1/namespaces/default/configmaps?mark=${mark}`)
      await answer.arrayBuffer()
      statuses.add(answer.status)
      return issuer.refreshes - before >= 3
    })
    await ours.close()
    expect([...statuses]).toEqual([200])
    const users = cluster.seen(mark).map(({ user }) => user.username)
    expect([...new Set(users)]).toEqual(['jane'])
  })

  it('accepts an id token as a static token, but not one for another audience', async () => {
    const kubeconfig = cluster.kubeconfig({ user: { token: issuer.idToken(2000) } })
    const ours = await connect({ kubeconfig })
    const ask = async (): Promise<number> => {
      const answer = await ours.fetch('/api/v1/namespaces/default/configmaps')
      await answer.arrayBuffer()
      return answer.status
    }
    // The token of the fixture has no audience, so the server refuses it.
    expect(await ask()).toBe(401)
    await ours.close()
  })
})
