// After kopf's tests/running/test_startup_cleanup_activities.py: how long a vault lives.
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

describe('a vault', () => {
  it('serves until the last cluster that uses it is closed, and can be used again', async () => {
    let logins = 0
    const vault = new Vault().onLogin(
      () => {
        logins += 1
        const { token } = sandbox.issueToken({ user: 'jane' })
        return { server: sandbox.url, caData: sandbox.caPem, token }
      },
      { id: 'corp' },
    )
    const one = await connect({ vault })
    const two = await connect({ vault })
    await (await one.fetch('/api/v1/namespaces')).text()
    await one.close()
    // Cleanup requests still need a working credential.
    sandbox.revoke('jane')
    expect((await two.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(logins).toBe(2)
    await two.close()
    await expect.poll(() => sandbox.connections.open).toBe(0)
    expect(vault.status()).toBeUndefined()
    await using again = await connect({ vault })
    expect((await again.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(logins).toBe(3)
  })

  it('that waits for its first login is closed if connect() is aborted, and aborts the handler', async () => {
    const events: CredentialEvent[] = []
    let abortReason: unknown
    const vault = new Vault().onLogin(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            abortReason = signal.reason
            reject(signal.reason)
          })
        }),
      { id: 'never' },
    )
    const reason = new Error('the program ends')
    const leaving = new AbortController()
    const observer = (event: CredentialEvent): void => {
      events.push(event)
      if (event.type === 'run-started') leaving.abort(reason)
    }
    const connecting = connect({ vault, signal: leaving.signal, observer })
    await expect(connecting).rejects.toBe(reason)
    expect(abortReason).toMatchObject({ code: 'ERR_CLOSED' })
    expect(vault.status()).toBeUndefined()
    expect(events.at(-1)?.type).toBe('detached')
  })
})
