import https from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { adminRequest } from './admin-request.ts'
import type { ClusterFacts } from './cluster-facts.ts'
import { issueToken } from './token-issuer.ts'

/** Members of this group may do everything by RBAC, but are not in system:masters. */
export const GROUP = 'suite'
/** Together ten megabytes in one list. */
export const LARGE = { namespace: 'large', count: 500, bytesEach: 20_000 }

const LIMIT_MS = 30_000
const AT_ONCE = 20

/** Creates the objects that the tests expect, and waits until the API server accepts the issuer's tokens. */
export async function prepare(facts: ClusterFacts, { large = true } = {}): Promise<void> {
  await create(facts, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: GROUP },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: GROUP }],
  })
  if (large) await makeLargeList(facts)
  await untilIssuerIsKnown(facts)
}

async function makeLargeList(facts: ClusterFacts): Promise<void> {
  const { namespace, count, bytesEach } = LARGE
  await create(facts, '/api/v1/namespaces', { metadata: { name: namespace } })
  const data = { filler: 'x'.repeat(bytesEach) }
  for (let at = 0; at < count; at += AT_ONCE) {
    const names = Array.from({ length: AT_ONCE }, (_, more) => `object-${at + more}`)
    await Promise.all(
      names.map((name) =>
        create(facts, `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name }, data }),
      ),
    )
  }
}

/** The server fetches the issuer's keys in the background, and refuses its tokens until then. */
async function untilIssuerIsKnown({ access, issuer }: ClusterFacts): Promise<void> {
  const { token } = issueToken(issuer.url, issuer.key, { user: 'first', groups: [GROUP] })
  const limit = Date.now() + LIMIT_MS
  while ((await statusOf(access.server, access.caPem, token)) !== 200) {
    if (Date.now() > limit) throw new Error('the API server does not accept tokens of the issuer')
    await pause(100)
  }
}

function statusOf(server: string, ca: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const request = https.get(`${server}/api/v1/namespaces`, { ca, headers, agent: false })
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
  })
}

async function create(facts: ClusterFacts, path: string, object: object): Promise<void> {
  const { status, text } = await adminRequest(facts.access, 'POST', path, object)
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`)
}
