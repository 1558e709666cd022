// After kopf's tests/authentication/test_reauthentication.py, tests/apis/test_error_retries.py and
// tests/apis/test_api_requests.py: what requests and logins have to do with each other.
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let logins: number
let vault: Vault
beforeEach(async () => {
  sandbox = await startSandbox()
  logins = 0
  vault = new Vault().onLogin(
    () => {
      logins += 1
      const { token } = sandbox.issueToken({ user: `login-${logins}` })
      return { server: sandbox.url, caData: sandbox.caPem, token }
    },
    { id: 'corp' },
  )
})
afterEach(() => sandbox.close())

const statuses = () => sandbox.requests.map(({ status }) => status)

describe('a request', () => {
  it('with its own Authorization has none of our credentials, and its 401 is returned', async () => {
    await using cluster = await connect({ vault })
    const { token } = sandbox.issueToken({ user: 'mine' })
    const own = { headers: { authorization: `Bearer ${token}` } }
    expect((await cluster.fetch('/api/v1/namespaces', own)).status).toBe(200)
    sandbox.revoke(token)
    expect((await cluster.fetch('/api/v1/namespaces', own)).status).toBe(401)
    expect(sandbox.requests.map(({ tokenUser }) => tokenUser)).toEqual(['mine', 'mine'])
    expect(logins).toBe(1)
  })

  it.each([400, 403, 404, 409, 429, 500, 503])(
    'with a response of %i is sent once, and the login is kept',
    async (status) => {
      await using cluster = await connect({ vault })
      sandbox.respondWith(() => ({
        status,
        headers: { 'Retry-After': '1' },
        body: { kind: 'Status', message: 'boo!' },
      }))
      const response = await cluster.fetch('/api/v1/namespaces')
      expect([response.status, await response.json()]).toEqual([
        status,
        { kind: 'Status', message: 'boo!' },
      ])
      sandbox.respondWith(undefined)
      expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
      expect(statuses()).toEqual([status, 200])
      expect(logins).toBe(1)
    },
  )

  it('to an unreachable server fails with the reason, and the login is kept', async () => {
    await using cluster = await connect({ vault })
    const restarted = sandbox.restart({ downMs: 200 })
    await expect(
      cluster.fetch('/api/v1/namespaces', { method: 'POST', body: '{}' }),
    ).rejects.toMatchObject({ code: 'ERR_SERVER_UNREACHABLE' })
    await restarted
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(logins).toBe(1)
  })

  it('has the path of the login’s server as a prefix', async () => {
    const paths: string[] = []
    sandbox.respondWith(({ path }) => {
      paths.push(path)
      return { status: 200, body: {} }
    })
    const below = new Vault().onLogin(() => ({
      server: `${sandbox.url}/k8s/clusters/one/`,
      caData: sandbox.caPem,
    }))
    await using cluster = await connect({ vault: below })
    await cluster.fetch('/version')
    await cluster.fetch('/version?verbose')
    await cluster.fetch(`${sandbox.url}/k8s/clusters/one/version`)
    expect(paths).toEqual([
      '/k8s/clusters/one/version',
      '/k8s/clusters/one/version?verbose',
      '/k8s/clusters/one/version',
    ])
  })
})

describe('a request that waits for a login', () => {
  it('is rejected when its signal is aborted, and the login continues for the others', async () => {
    let answer: (() => void) | undefined
    const slow = new Vault().onLogin(
      async ({ attempt, reason, signal }) => {
        const { token } = sandbox.issueToken({ user: `${reason}-${attempt}` })
        if (reason !== 'first') await new Promise<void>((resolve) => (answer = resolve))
        expect(signal.aborted).toBe(false)
        return { server: sandbox.url, caData: sandbox.caPem, token }
      },
      { id: 'slow' },
    )
    await using cluster = await connect({ vault: slow })
    sandbox.revoke('first-1')
    const leaving = new AbortController()
    const hasty = cluster.fetch('/api/v1/namespaces', { signal: leaving.signal })
    const patient = cluster.fetch('/api/v1/namespaces')
    await expect.poll(() => slow.status()?.waiting).toBe(2)
    leaving.abort(new Error('enough'))
    await expect(hasty).rejects.toThrow('enough')
    expect(slow.status()?.waiting).toBe(1)
    answer?.()
    expect((await patient).status).toBe(200)
  })
})
