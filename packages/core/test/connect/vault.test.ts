import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { openHttp2 } from 'kubecred/http2'
import { loginWithKubeconfig, loginWithServiceAccount } from 'kubecred/logins'
import { PermanentError, Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const infoOf = (from: Sandbox, token: string) => ({ server: from.url, caData: from.caPem, token })
const users = () => sandbox.requests.map(({ user }) => user)

describe('a cluster with login handlers', () => {
  it('logs in, and logs in again after a refusal without failing the request', async () => {
    const reasons: string[] = []
    const vault = new Vault()
    vault.onLogin(
      ({ reason }) => {
        reasons.push(reason)
        return infoOf(sandbox, sandbox.issueToken({ user: `login-${reasons.length}` }).token)
      },
      { id: 'corp' },
    )
    await using cluster = await connect({ vault })
    expect(cluster.server).toBe(sandbox.url)
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    sandbox.revoke('login-1')
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(users()).toEqual(['login-1', undefined, 'login-2'])
    expect(reasons).toEqual(['first', 'depleted'])
  })

  it('continues with the next login while one is refused', async () => {
    const vault = new Vault()
    vault.onLogin(() => ({ ...infoOf(sandbox, 'nonsense'), priority: 10 }), { id: 'bad' })
    vault.onLogin(() => infoOf(sandbox, sandbox.issueToken({ user: 'good' }).token), { id: 'good' })
    await using cluster = await connect({ vault })
    // Both are asked when the first request needs them; wait until both have answered.
    await expect
      .poll(() => vault.status()?.logins.every(({ state }) => state === 'ready'))
      .toBe(true)
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(users()).toEqual([undefined, 'good', 'good'])
  })

  it('uses a login only for its own server', async () => {
    await using other = await startSandbox()
    const vault = new Vault()
    vault.onLogin(() => infoOf(sandbox, sandbox.issueToken({ user: 'one' }).token), { id: 'one' })
    vault.onLogin(() => infoOf(other, other.issueToken({ user: 'two' }).token), { id: 'two' })
    await using cluster = await connect({ vault })
    await expect
      .poll(() => vault.status()?.logins.every(({ state }) => state === 'ready'))
      .toBe(true)
    for (let count = 0; count < 10; count += 1) {
      expect((await cluster.fetch(`${sandbox.url}/api/v1/namespaces`)).status).toBe(200)
      expect((await cluster.fetch(`${other.url}/api/v1/namespaces`)).status).toBe(200)
      expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    }
    expect(new Set(users())).toEqual(new Set(['one']))
    expect(new Set(other.requests.map(({ user }) => user))).toEqual(new Set(['two']))
  })

  it('treats a login with a wrong CA as refused, and tries the next', async () => {
    await using other = await startSandbox()
    const token = sandbox.issueToken({ user: 'jane' }).token
    const vault = new Vault()
    vault.onLogin(() => ({ ...infoOf(sandbox, token), caData: other.caPem, priority: 5 }), {
      id: 'wrong-ca',
    })
    vault.onLogin(() => infoOf(sandbox, token), { id: 'right' })
    await using cluster = await connect({ vault })
    await expect
      .poll(() => vault.status()?.logins.every(({ state }) => state === 'ready'))
      .toBe(true)
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  })

  it('notices a new certificate in the files that a login names', async () => {
    const files = {
      certificatePath: join(sandbox.folder, 'c'),
      privateKeyPath: join(sandbox.folder, 'k'),
    }
    const write = async (user: string): Promise<void> => {
      const { certificate, key } = await sandbox.issueCertificate({ user })
      writeFileSync(files.certificatePath, certificate)
      writeFileSync(files.privateKeyPath, key)
    }
    await write('one')
    const vault = new Vault().onLogin(
      () => ({ server: sandbox.url, caData: sandbox.caPem, ...files }),
      { id: 'files' },
    )
    await using cluster = await connect({ vault })
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    await write('two')
    await expect
      .poll(
        async () => {
          await (await cluster.fetch('/version')).text()
          return users().at(-1)
        },
        { timeout: 15_000 },
      )
      .toBe('two')
  })

  it('reads the files of a login again when they change, and calls the handler only for a new certificate', async () => {
    const files = {
      certificatePath: join(sandbox.folder, 'c'),
      privateKeyPath: join(sandbox.folder, 'k'),
    }
    const { certificate, key } = await sandbox.issueCertificate({ user: 'one' })
    writeFileSync(files.certificatePath, certificate)
    writeFileSync(files.privateKeyPath, key)
    let logins = 0
    const vault = new Vault().onLogin(
      () => {
        logins += 1
        return { server: sandbox.url, caData: sandbox.caPem, ...files }
      },
      { id: 'files' },
    )
    const events: CredentialEvent[] = []
    await using cluster = await connect({ vault, observer: (event) => void events.push(event) })
    expect((await cluster.fetch('/version')).status).toBe(200)
    writeFileSync(files.certificatePath, 'half written')
    await expect
      .poll(() => events.find(({ type }) => type === 'warning'), { timeout: 15_000 })
      .toMatchObject({
        source: { kind: 'login', name: 'files' },
        message: expect.stringContaining('its last good content is used'),
      })
    expect(logins).toBe(1)
    const next = await sandbox.issueCertificate({ user: 'two' })
    writeFileSync(files.privateKeyPath, next.key)
    writeFileSync(files.certificatePath, next.certificate)
    await expect.poll(() => logins, { timeout: 15_000 }).toBe(2)
    expect(new Set(events.map(({ source }) => source.kind))).toEqual(new Set(['vault', 'login']))
    expect((await cluster.fetch('/version')).status).toBe(200)
  })

  it('reports what every handler did if none can log in, and the vault can be used again', async () => {
    const events: CredentialEvent[] = []
    let isOpen = false
    const vault = new Vault()
    vault.onLogin(() => undefined, { id: 'elsewhere' })
    vault.onLogin(
      () => {
        if (isOpen) return infoOf(sandbox, sandbox.issueToken({ user: 'late' }).token)
        throw new PermanentError('the door is locked')
      },
      { id: 'door' },
    )
    const observer = (event: CredentialEvent): void => void events.push(event)
    const policy = { backoffFirstMs: 1 }
    await expect(connect({ vault, observer, policy })).rejects.toMatchObject({
      code: 'ERR_LOGIN_FAILED',
      message: expect.stringMatching(/elsewhere returned nothing; door failed: the door is locked/),
    })
    expect(events.map(({ type }) => type)).toContain('failed')
    isOpen = true
    await using cluster = await connect({ vault })
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  })

  it('rejects a URL of a server that no login is for, even with its own Authorization', async () => {
    await using other = await startSandbox()
    const vault = new Vault()
    vault.onLogin(() => infoOf(sandbox, sandbox.issueToken({ user: 'one' }).token), { id: 'one' })
    await using cluster = await connect({ vault })
    const foreign = { code: 'ERR_FOREIGN_ORIGIN' }
    const headers = { authorization: 'Bearer mine' }
    await expect(cluster.fetch(`${other.url}/version`)).rejects.toMatchObject(foreign)
    await expect(cluster.fetch(`${other.url}/version`, { headers })).rejects.toMatchObject(foreign)
    expect(sandbox.requests).toEqual([])
    expect(other.requests).toEqual([])
  })

  it('works through an adapter', async () => {
    const vault = new Vault()
    vault.onLogin(() => infoOf(sandbox, sandbox.issueToken({ user: 'one' }).token), { id: 'one' })
    await using cluster = await connect({ vault })
    const { status, stream } = await openHttp2(cluster).request({ ':path': '/api/v1/namespaces' })
    stream.resume()
    expect(status).toBe(200)
  })

  it('works with ready-made logins: a plugin of a kubeconfig runs again after a refusal', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const vault = new Vault()
    vault.onLogin((context) => loginWithKubeconfig(context, { kubeconfig }), { id: 'file' })
    vault.onLogin((context) => loginWithServiceAccount(context, { folder: '/nowhere' }), {
      id: 'pod',
    })
    await using cluster = await connect({ vault })
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    sandbox.revoke('jane')
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('keeps the process alive while it waits for a login, and lets it exit after that', async () => {
    const program = new URL('../fixtures/waits-for-login.mjs', import.meta.url)
    const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(program)])
    expect(stdout).toMatch(
      /^ERR_LOGIN_FAILED .*corp failed: there is no field "tokn"; server is not/,
    )
  })
})
