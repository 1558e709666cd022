import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await startSandbox({ basic: { bob: 'swordfish' } })
})
afterEach(() => sandbox.close())

async function whoAmI(fetch: typeof globalThis.fetch, headers: Record<string, string> = {}) {
  const response = await fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
  })
  const { status } = (await response.json()) as { status: { userInfo: Record<string, unknown> } }
  return { ...status.userInfo, status: response.status }
}

describe("a caller's own Authorization", () => {
  it('is sent instead of ours: no plugin runs, no certificate is sent, and a 401 is returned', async () => {
    const exec = await sandbox.plugin({ user: 'jane', credential: 'both' })
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    await cluster.fetch('/version')
    const { token } = sandbox.issueToken({ user: 'other' })
    expect(await whoAmI(cluster.fetch, { authorization: `Bearer ${token}` })).toMatchObject({
      username: 'other',
    })
    expect(sandbox.requests.at(-1)).toMatchObject({ hasClientCertificate: false })
    const refused = await cluster.fetch('/api/v1/namespaces', {
      headers: { Authorization: 'Bearer wrong' },
    })
    expect(refused.status).toBe(401)
    expect(sandbox.pluginRuns).toBe(1)
  })

  it("does not change the caller's objects", async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { token } }),
    })
    const headers = new Headers({ accept: 'application/json' })
    const init = { headers }
    const request = new Request(`${cluster.server}/version`, init)
    await cluster.fetch('/version', init)
    await cluster.fetch(request)
    expect([...headers.keys()]).toEqual(['accept'])
    expect([...request.headers.keys()]).toEqual(['accept'])
  })
})

describe('a user entry', () => {
  it('with name and password is basic', async () => {
    const kubeconfig = sandbox.writeKubeconfig({ user: { username: 'bob', password: 'swordfish' } })
    await using cluster = await connect({ kubeconfig })
    expect(await whoAmI(cluster.fetch)).toMatchObject({ username: 'bob' })
  })

  it('with a token and a certificate sends both', async () => {
    const { certificate, key } = await sandbox.issueCertificate({ user: 'cert-user' })
    const { token } = sandbox.issueToken({ user: 'token-user' })
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { token, certificate, key } }),
    })
    expect(await whoAmI(cluster.fetch)).toMatchObject({ username: 'cert-user' })
    expect(sandbox.requests.at(-1)).toMatchObject({
      hasAuthorization: true,
      hasClientCertificate: true,
    })
  })

  it('without anything is anonymous', async () => {
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: {} }) })
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect(cluster.status().credential.source.kind).toBe('anonymous')
  })
})

describe('impersonation', () => {
  const identity = {
    as: 'eve',
    asUid: '42',
    asGroups: ['a', 'b'],
    asUserExtra: { 'test.example.com/Thing': ['x', 'y'] },
  }

  async function connectAsMaster(more = {}) {
    const { token } = sandbox.issueToken({ user: 'root', groups: ['system:masters'] })
    return connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }), ...more })
  }

  it('sends user, uid, groups and extra as Kubernetes reads them', async () => {
    await using cluster = await connectAsMaster(identity)
    expect(await whoAmI(cluster.fetch)).toMatchObject({
      username: 'eve',
      uid: '42',
      groups: expect.arrayContaining(['a', 'b']),
      extra: { 'test.example.com/thing': ['x', 'y'] },
    })
  })

  it('sends names beyond Latin-1 in UTF-8, as client-go does', async () => {
    const seen: unknown[] = []
    sandbox.respondWith(({ headers }) => {
      seen.push(headers['impersonate-user'], headers['impersonate-group'])
      return { status: 200, body: {} }
    })
    await using cluster = await connectAsMaster({ as: 'jörg', asGroups: ['山田'] })
    await cluster.fetch('/version')
    // Node gives one character for each byte.
    expect(seen.map((value) => Buffer.from(String(value), 'latin1').toString())).toEqual([
      'jörg',
      '山田',
    ])
  })

  it("is replaced as a whole by the caller's own", async () => {
    await using cluster = await connectAsMaster(identity)
    const who = await whoAmI(cluster.fetch, { 'Impersonate-User': 'mallory' })
    expect(who).toMatchObject({ username: 'mallory' })
    expect(who).not.toHaveProperty('uid')
    expect((who as { groups?: string[] }).groups).not.toContain('a')
  })
})
