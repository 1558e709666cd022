import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { afterEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call, whoAmI } from '../client.ts'
import { connectH2 } from '../h2-client.ts'

let sandbox: Sandbox
afterEach(async () => sandbox.close())

describe('a new server CA', () => {
  it.each([true, false])(
    'is used immediately for new connections (HTTP/2 offered: %s)',
    async (http2) => {
      sandbox = await startSandbox({ http2 })
      const before = sandbox.caPem
      const after = await sandbox.rotateServerAuthority()
      expect(after).not.toBe(before)
      expect(sandbox.caPem).toBe(after)
      expect((await call(sandbox, '/livez')).text).toBe('ok')
      await expect(call({ ...sandbox, caPem: before }, '/livez')).rejects.toThrow(/certificate/)
      // Both, as a client has them during a rotation.
      expect((await call({ ...sandbox, caPem: before + after }, '/livez')).text).toBe('ok')
    },
  )

  it('does not close open connections', async () => {
    sandbox = await startSandbox()
    const { token } = sandbox.issueToken({ user: 'jane' })
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: sandbox.caPem })
    await using h2 = connectH2(sandbox)
    const ask = async (): Promise<unknown[]> => [
      (await call(sandbox, '/livez', { token, agent })).text,
      (await h2.call('/livez', { token })).text,
    ]
    await ask()
    await sandbox.rotateServerAuthority()
    expect(await ask()).toEqual(['ok', 'ok'])
    expect(sandbox.connections.opened).toBe(2)
    agent.destroy()
  })

  it.each([true, false])(
    'does not affect client certificates (separate CA: %s)',
    async (separateClientAuthority) => {
      sandbox = await startSandbox({ separateClientAuthority })
      const { clientCaPem } = sandbox
      const old = await sandbox.issueCertificate({ user: 'max' })
      await sandbox.rotateServerAuthority()
      const young = await sandbox.issueCertificate({ user: 'max' })
      for (const { certificate, key } of [old, young]) {
        expect((await whoAmI(sandbox, { cert: certificate, key })).status).toBe(201)
      }
      expect(sandbox.clientCaPem).toBe(clientCaPem)
    },
  )

  it('is in new kubeconfigs and survives a restart', async () => {
    sandbox = await startSandbox()
    const caPem = await sandbox.rotateServerAuthority()
    await sandbox.restart()
    const { clusters } = JSON.parse(readFileSync(sandbox.writeKubeconfig(), 'utf8'))
    const data = clusters[0].cluster['certificate-authority-data']
    expect(Buffer.from(data, 'base64').toString()).toBe(caPem)
    expect((await call(sandbox, '/livez')).text).toBe('ok')
  })
})
