import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Served } from '../../packages/cli/test/proxy/proxy-process.ts'
import { credentialOf } from './harness/audit.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'
import { ask } from './run/ask.ts'
import { ServiceAccount } from './run/bound-tokens.ts'
import { AUDIENCE, accessLog, CallersScene } from './run/callers-scene.ts'

const cluster = new TestCluster(inject('cluster'))
let scene: CallersScene
let proxy: Served
beforeAll(async () => {
  scene = await CallersScene.create(cluster)
  proxy = await scene.start()
})
afterAll(async () => {
  expect(await proxy?.end()).toBe(0)
})

function send(path: string, token: string, more = {}): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, ...more }
  return ask(`${proxy.said.url}${path}`, { headers })
}

/** Waits for a line of the access log, which follows the response. */
async function logged(
  isWanted: (line: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown> | undefined> {
  await until(() => accessLog(proxy).some(isWanted))
  return accessLog(proxy).find(isWanted)
}

const marked = (mark: string): string =>
  `/api/v1/namespaces/default/configmaps?limit=1&fieldManager=${mark}`

describe('kubecred proxy with the rights and flags of overlays/token-review', () => {
  it('writes the names of its callers to its access log and to the audit log', async () => {
    const names = ['web', 'jobs']
    const callers = await Promise.all(
      names.map((name) => ServiceAccount.create(cluster, scene.namespace, name)),
    )
    const seen = await Promise.all(
      callers.map(async (caller) => {
        const { token } = await caller.token([AUDIENCE])
        const mark = cluster.unique('mark')
        // RBAC notices a new binding with a delay.
        await until(async () => (await send(marked(mark), token)).status === 200)
        return { caller, mark, token }
      }),
    )
    for (const { caller, mark, token } of seen) {
      const event = cluster.seen(mark).find(({ responseStatus }) => responseStatus?.code === 200)
      expect(event?.user.username).toBe(scene.proxy.user)
      expect(event?.impersonatedUser?.username).toBe(caller.user)
      expect(event?.impersonatedUser?.groups).toContain(`system:serviceaccounts:${scene.namespace}`)
      // The audit log also has the ids of both tokens.
      const key = 'authentication.kubernetes.io/credential-id'
      const [id] = event?.impersonatedUser?.extra?.[key] ?? []
      expect(id).toMatch(/^JTI=/)
      expect(event && credentialOf(event)).not.toBe(id)
      const line = await logged(({ caller: name }) => name === caller.user)
      expect(line).toMatchObject({ method: 'GET', path: '/api/v1/namespaces/default/configmaps' })
      const { user, impersonatedUser, verb, responseStatus } = event ?? {}
      const audited = { verb, user: user?.username, impersonatedUser: impersonatedUser?.username }
      process.stderr.write(`access log: ${JSON.stringify(line)}\n`)
      process.stderr.write(`audit log: ${JSON.stringify({ ...audited, responseStatus })}\n`)
      expect(proxy.running.out).not.toContain(token)
      expect(proxy.running.out).not.toContain(mark)
    }
  })

  it('gives a caller its own rights, and not those of the proxy', async () => {
    const caller = await ServiceAccount.create(cluster, scene.namespace, 'poor', 'no rights')
    const { token } = await caller.token([AUDIENCE])
    const { status, text } = await send('/api/v1/namespaces/default/configmaps', token)
    expect(status).toBe(403)
    expect(JSON.parse(text).message).toContain(`User "${caller.user}" cannot list resource`)
    // Nor can it take those of another one.
    const as = { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' }
    expect((await send('/version', token, as)).status).toBe(403)
    const line = await logged(({ refused }) => refused === 'impersonation')
    expect(line).toMatchObject({ caller: caller.user, status: 403 })
  })

  it('cannot act as a service account of a namespace that is not bound', async () => {
    const stranger = await ServiceAccount.create(cluster, await cluster.namespace(), 'stranger')
    const { token } = await stranger.token([AUDIENCE])
    const { status, text } = await send('/version', token)
    expect(status).toBe(403)
    expect(text).toContain('cannot impersonate resource \\"serviceaccounts\\"')
  })

  it('refuses a token for another audience, and one that was revoked', async () => {
    const caller = await ServiceAccount.create(cluster, scene.namespace, 'revoked')
    const { token: wrong } = await caller.token()
    expect((await send('/version', wrong)).status).toBe(401)
    const { token, end } = await caller.token([AUDIENCE])
    await until(async () => (await send('/version', token)).status === 200)
    await end()
    await until(async () => (await send('/version', token)).status === 401)
  })

  it('refuses every caller if it may not review tokens', async () => {
    const powerless = await ServiceAccount.create(
      cluster,
      await cluster.namespace(),
      'kubecred-proxy',
      'no rights',
    )
    const served = await scene.start('--token', (await powerless.token()).token)
    const caller = await ServiceAccount.create(cluster, scene.namespace, 'unlucky')
    const headers = { authorization: `Bearer ${(await caller.token([AUDIENCE])).token}` }
    const { status, text } = await ask(`${served.said.url}/version`, { headers })
    expect(status).toBe(503)
    expect(text).toContain('the server responded 403 (ERR_TOKEN_REVIEW)')
    expect(await served.end()).toBe(0)
  })
})
