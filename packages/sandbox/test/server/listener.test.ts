import { Agent } from 'node:https'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, SERVER_NAME, startSandbox } from '../../src/index.ts'
import { call, whoAmI } from '../client.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(async () => sandbox.close())

describe('the server', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'speaks %s, also with client certificates',
    async (v) => {
      const made = await sandbox.issueCertificate({ user: 'max' })
      const sent = { cert: made.certificate, key: made.key, minVersion: v, maxVersion: v }
      expect((await whoAmI(sandbox, sent)).json.status.userInfo.username).toBe('max')
    },
  )

  it('has a certificate for its test name, and not for others', async () => {
    expect((await call(sandbox, '/livez', { servername: SERVER_NAME })).text).toBe('ok')
    await expect(call(sandbox, '/livez', { servername: 'other.test' })).rejects.toThrow('altnames')
  })

  it('distinguishes requests on one connection from requests on several', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await call(sandbox, '/livez', { agent })
    await call(sandbox, '/livez', { agent })
    await call(sandbox, '/livez')
    agent.destroy()
    const [first, second, third] = sandbox.requests.slice(-3).map(({ connection }) => connection)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  it('can speak plain HTTP', async () => {
    await using plain = await startSandbox({ http: true })
    expect(plain.url).toMatch(/^http:/)
    const { token } = plain.issueToken({ user: 'jane' })
    expect((await whoAmI(plain, { token })).json.status.userInfo.username).toBe('jane')
  })

  it('can fail the handshake of a client without a valid certificate', async () => {
    await using strict = await startSandbox({ requireClientCertificate: true })
    const good = await strict.issueCertificate({ user: 'max' })
    const bad = await strict.issueCertificate({ user: 'max', untrusted: true })
    expect((await whoAmI(strict, { cert: good.certificate, key: good.key })).status).toBe(201)
    await expect(whoAmI(strict, { cert: bad.certificate, key: bad.key })).rejects.toThrow()
    await expect(whoAmI(strict, {})).rejects.toThrow()
  })

  it('can use a separate CA for clients', async () => {
    await using apart = await startSandbox({ separateClientAuthority: true })
    expect(apart.clientCaPem).not.toBe(apart.caPem)
    const made = await apart.issueCertificate({ user: 'max' })
    expect((await whoAmI(apart, { cert: made.certificate, key: made.key })).status).toBe(201)
  })

  it('fails to start on a port that is taken', async () => {
    const port = Number(new URL(sandbox.url).port)
    await expect(startSandbox({ port })).rejects.toThrow('EADDRINUSE')
  })
})
