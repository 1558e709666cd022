import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClosedError } from '../../src/errors/index.ts'
import { connect } from '../../src/index.ts'
import { Vault } from '../../src/vault/index.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

describe('renew() and forget()', () => {
  it('acquire a new credential now, or drop it', async () => {
    const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 900_000 })
    await using cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    const runs = (): number => cluster.status().credential.runs
    await cluster.fetch('/version')
    await cluster.renew()
    expect([runs(), cluster.status().credential.state]).toEqual([2, 'ready'])
    cluster.forget()
    expect([runs(), cluster.status().credential.state]).toEqual([2, 'empty'])
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect(runs()).toBe(3)
    await cluster.close()
    await expect(cluster.renew()).rejects.toBeInstanceOf(ClosedError)
    expect(() => cluster.forget()).toThrow(ClosedError)
  })

  it('call every login handler, and fail if none returns anything', async () => {
    const vault = new Vault()
    const info = { server: sandbox.url, caData: sandbox.caPem }
    let isDown = false
    vault.onLogin(
      () => {
        if (isDown) throw new Error('the directory is down')
        return { ...info, token: sandbox.issueToken({ user: 'jane' }).token }
      },
      { id: 'corp', errors: 'permanent' },
    )
    await using cluster = await connect({ vault, policy: { backoffFirstMs: 1 } })
    await cluster.fetch('/version')
    await cluster.renew()
    expect(cluster.status().credential.runs).toBe(2)
    isDown = true
    await expect(cluster.renew()).rejects.toThrow('the directory is down')
    expect((await cluster.fetch('/version')).status).toBe(200)
    isDown = false
    cluster.forget()
    expect((await cluster.fetch('/version')).status).toBe(200)
  })
})
