import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { type ConnectionFields, Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const logInAs = (user: string): ConnectionFields => ({
  server: sandbox.url,
  caData: sandbox.caPem,
  token: sandbox.issueToken({ user }).token,
})

describe('a handler that uses the cluster it logs in for', () => {
  it('gets a LoginError when it waits for itself, and all requests continue once it succeeds', async () => {
    let cluster: Cluster | undefined
    const errors: unknown[] = []
    let logins = 0
    const vault = new Vault({ freezeLimitMs: 300 })
    vault.onLogin(
      async () => {
        logins += 1
        if (logins === 2) await cluster?.fetch('/version').catch((error) => errors.push(error))
        return logInAs(`login-${logins}`)
      },
      { id: 'circular' },
    )
    cluster = await connect({ vault })
    sandbox.revoke('login-1')
    // The request that began to wait first gives up first; the other may still be served.
    const outer = await cluster.fetch('/api/v1/namespaces').catch((error: unknown) => error)
    expect(['ERR_LOGIN_FAILED', 200]).toContain(
      outer instanceof Response ? outer.status : (outer as { code: string }).code,
    )
    await expect.poll(() => errors).toMatchObject([{ code: 'ERR_LOGIN_FAILED' }])
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(logins).toBe(2)
    await cluster.close()
  })

  it('can send requests while another login is usable', async () => {
    let cluster: Cluster | undefined
    const inner: number[] = []
    let logins = 0
    const vault = new Vault({ freezeLimitMs: 5000 })
    vault.onLogin(
      async () => {
        logins += 1
        const response = await cluster?.fetch('/version')
        if (response) inner.push(response.status)
        return { ...logInAs(`first-${logins}`), priority: 5 }
      },
      { id: 'first' },
    )
    vault.onLogin(() => logInAs('second'), { id: 'second' })
    cluster = await connect({ vault })
    await expect
      .poll(() => vault.status()?.logins.every(({ state }) => state === 'ready'))
      .toBe(true)
    sandbox.revoke('first-1')
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    await expect.poll(() => inner).toEqual([200])
    await cluster.close()
  })

  it('may close it: all requests are rejected, and nothing hangs', async () => {
    let cluster: Cluster | undefined
    let logins = 0
    let closed = 0
    const vault = new Vault()
    vault.onLogin(
      async () => {
        logins += 1
        if (logins > 1) {
          await cluster?.close()
          closed += 1
        }
        return logInAs(`login-${logins}`)
      },
      { id: 'suicidal' },
    )
    cluster = await connect({ vault })
    sandbox.revoke('login-1')
    const requests = Array.from({ length: 5 }, () => cluster?.fetch('/api/v1/namespaces'))
    const ends = await Promise.allSettled(requests)
    for (const end of ends)
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ERR_CLOSED' } })
    await expect.poll(() => closed).toBe(1)
    expect(logins).toBe(2)
    // The handlers stay with the vault: it can be used again.
    await using again = await connect({ vault })
    expect(again.server).toBe(sandbox.url)
  })
})

describe('a token of ten megabytes', () => {
  it('ends in a response or an error of its request, and delays no other request', async () => {
    const huge = { server: sandbox.url, caData: sandbox.caPem, token: 'x'.repeat(10_000_000) }
    const vault = new Vault({ freezeLimitMs: 1000 }).onLogin(() => huge, { id: 'huge' })
    await using cluster = await connect({ vault })
    const outcome = await cluster
      .fetch('/api/v1/namespaces', { signal: AbortSignal.timeout(10_000) })
      .then(({ status }) => ({ status }))
      .catch((error: { code: string }) => ({ code: error.code }))
    // Node's server responds 431, or closes the connection while the rest is in flight.
    expect([{ status: 431 }, { code: 'ERR_SERVER_UNREACHABLE' }]).toContainEqual(outcome)
    expect(sandbox.requests).toEqual([])
  })
})
