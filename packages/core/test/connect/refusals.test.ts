import { type Sandbox, type SandboxOptions, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { afterEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let events: { event: CredentialEvent; at: number }[] = []

afterEach(() => sandbox.close())

async function connectWithPlugin(options: SandboxOptions = {}, more: ConnectOptions = {}) {
  sandbox = await startSandbox(options)
  events = []
  const exec = await sandbox.plugin({ user: 'jane' })
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const observer = (event: CredentialEvent): void =>
    void events.push({ event, at: performance.now() })
  return connect({ kubeconfig, observer, ...more })
}

const unauthorized = () => ({ status: 401, headers: { 'www-authenticate': 'Bearer' }, body: 'no' })
const startsOf = () => events.flatMap(({ event, at }) => (event.type === 'run-started' ? [at] : []))

const TRANSPORTS = ['pool', 'http2'] as const

describe.each(TRANSPORTS)('a server that answers 401 to everything (%s)', (transport) => {
  it('has its 401 returned to callers, while runs respect the back-off, until it recovers', async () => {
    const firstMs = 40
    await using cluster = await connectWithPlugin(
      {},
      { policy: { backoffFirstMs: firstMs }, transport },
    )
    sandbox.respondWith(unauthorized)
    const statuses = new Set<number>()
    let requests = 0
    while (startsOf().length < 6) {
      const response = await cluster.fetch('/api/v1/namespaces')
      statuses.add(response.status)
      expect(await response.text()).toBe('no')
      requests += 1
    }
    expect(statuses).toEqual(new Set([401]))
    expect(requests).toBeGreaterThan(20)
    // The first run, one at once for the first 401, then pauses that double (give or take a fifth).
    const gaps = startsOf()
      .slice(1)
      .map((at, index, all) => at - (all[index - 1] ?? at))
    for (const [index, gap] of gaps.slice(1).entries()) {
      expect(gap).toBeGreaterThanOrEqual(firstMs * 2 ** index * 0.8 - 1)
    }
    sandbox.respondWith(undefined)
    const runs = sandbox.pluginRuns
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(sandbox.pluginRuns).toBe(runs)
    expect(cluster.status().credential.state).toBe('ready')
  })
})

describe.each(TRANSPORTS)('a revoked token (%s)', (transport) => {
  it('is replaced, and the request is sent once more with its body', async () => {
    await using cluster = await connectWithPlugin({}, { transport })
    await cluster.fetch('/version')
    sandbox.revoke('jane')
    const body = JSON.stringify({ metadata: { name: 'made' } })
    const response = await cluster.fetch('/api/v1/namespaces', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect(response.status).toBe(201)
    expect(sandbox.pluginRuns).toBe(2)
    expect(events.map(({ event }) => event.type)).toContain('retried')
  })
})

describe('a plugin that returns the same refused token', () => {
  it('does not run twice for one request, and the request is not repeated', async () => {
    await using cluster = await connectWithPlugin()
    sandbox.respondWith(unauthorized)
    const { token } = sandbox.issueToken({ user: 'jane' })
    const answer = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token },
    }
    const exec = await sandbox.plugin({ user: 'jane', stdout: JSON.stringify(answer) })
    await using same = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    expect((await same.fetch('/version')).status).toBe(401)
    expect(sandbox.pluginRuns).toBe(2)
    expect(sandbox.requests).toHaveLength(1)
    await cluster.close()
  })
})

describe('a 401 from behind a proxy subresource', () => {
  it.each([
    'namespaces/default/pods/web',
    'namespaces/default/services/https:web:8443',
    'nodes/one',
  ])('changes nothing: %s', async (path) => {
    await using cluster = await connectWithPlugin({
      onProxyRequest: () => ({ status: 401, body: 'from the pod' }),
    })
    const response = await cluster.fetch(`/api/v1/${path}/proxy/login`)
    expect([response.status, await response.text()]).toEqual([401, 'from the pod'])
    expect(sandbox.pluginRuns).toBe(1)
    expect(events.map(({ event }) => event.type)).not.toContain('refused')
    expect(sandbox.requests).toHaveLength(1)
  })
})

describe('policy.refreshOn', () => {
  it('can add 403, and the 403 is still returned if it persists', async () => {
    await using cluster = await connectWithPlugin(
      { forbid: (_user, _method, path) => path.startsWith('/api/v1/namespaces') },
      { policy: { refreshOn: [401, 403] } },
    )
    for (let count = 0; count < 5; count += 1) {
      expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(403)
    }
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('ignores 403 by default', async () => {
    await using cluster = await connectWithPlugin({ forbid: () => true })
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(403)
    expect(sandbox.pluginRuns).toBe(1)
  })

  it('accepts only 401 and 403', async () => {
    await expect(connectWithPlugin({}, { policy: { refreshOn: [500] } })).rejects.toThrow('got 500')
  })
})

describe('a v1alpha1 plugin', () => {
  it.each(['ExecCredential', 'ExecInfo'] as const)(
    'receives the 401 and its challenge, in both places, as %s',
    async (kind) => {
      sandbox = await startSandbox()
      const plugin = await sandbox.plugin({ user: 'jane' })
      const exec = { ...plugin, apiVersion: 'client.authentication.k8s.io/v1alpha1' }
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
      await using cluster = await connect({ kubeconfig, policy: { v1alpha1Kind: kind } })
      const challenge = 'Bearer realm="Access to the staging site"'
      let isRefused = false
      sandbox.respondWith(() => {
        if (isRefused) return undefined
        isRefused = true
        return { status: 401, headers: { 'www-authenticate': challenge } }
      })
      expect((await cluster.fetch('/version')).status).toBe(200)
      const [first, second] = sandbox.pluginExecInfos as {
        kind: string
        spec: Record<string, unknown>
        response: unknown
      }[]
      expect(first).toMatchObject({ kind, spec: { interactive: false } })
      expect(first).not.toHaveProperty('response')
      expect(second?.response).toMatchObject({
        code: 401,
        header: { 'Www-Authenticate': [challenge] },
      })
      expect(second?.spec['response']).toEqual(second?.response)
    },
  )
})
