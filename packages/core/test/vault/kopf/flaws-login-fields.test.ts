// Needs 2, 3, 8, 9, 10 and 11 of kopf's users, and 11.2: what logins say, with real files and a real server.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { loginWithKubeconfig, loginWithServiceAccount } from 'kubecred/logins'
import { type ConnectionFields, Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectNoLeak } from '../../fixtures/no-leak.ts'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const PATH = '/api/v1/namespaces'
const lastUser = () => sandbox.requests.at(-1)?.user
const good = () => ({
  server: sandbox.url,
  caData: sandbox.caPem,
  token: sandbox.issueToken({ user: 'good' }).token,
})

function write(name: string, text: string): string {
  const path = join(sandbox.folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

describe('need 2: a kubeconfig is fully supported', () => {
  it.each(['exec', 'tokenFile', 'relative certificates'] as const)('need 2: %s', async (what) => {
    const { certificate, key } = await sandbox.issueCertificate({ user: 'relative certificates' })
    write('pki/one.crt', certificate)
    write('pki/one.key', key)
    write('pki/token', `${sandbox.issueToken({ user: 'tokenFile' }).token}\n`)
    const user = {
      exec: { exec: await sandbox.plugin({ user: 'exec', lifetimeMs: 60_000 }) },
      tokenFile: { tokenFile: 'pki/token' },
      'relative certificates': {
        certificateFile: 'pki/one.crt',
        keyFile: 'pki/one.key',
      },
    }[what]
    const kubeconfig = sandbox.writeKubeconfig({ user, path: join(sandbox.folder, 'config') })
    const vault = new Vault().onLogin((context) => loginWithKubeconfig(context, { kubeconfig }), {
      id: 'file',
    })
    await using cluster = await connect({ vault })
    expect((await cluster.fetch(PATH)).status).toBe(200)
    expect(lastUser()).toBe(what)
    // Need 1: the expiry of the plugin's credential is that of the login.
    if (what !== 'exec') return
    const [login] = vault.status()?.logins ?? []
    expect(login?.expiresAt).toBeLessThanOrEqual(Date.now() + 60_000)
  })
})

describe('need 3: a rotated token file', () => {
  it('need 3: is noticed without a 401, in a pod and elsewhere', async () => {
    const folder = join(sandbox.folder, 'account')
    write('account/ca.crt', sandbox.caPem)
    write('account/namespace', 'ours\n')
    write('account/token', `${sandbox.issueToken({ user: 'before' }).token}\n`)
    const { hostname, port } = new URL(sandbox.url)
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
    const vault = new Vault().onLogin(
      (context) => loginWithServiceAccount(context, { folder, env }),
      { id: 'pod' },
    )
    await using cluster = await connect({ vault })
    expect(cluster.namespace).toBe('ours')
    const ask = async () => {
      expect((await cluster.fetch(PATH)).status).toBe(200)
      return lastUser()
    }
    expect(await ask()).toBe('before')
    write('account/token', `${sandbox.issueToken({ user: 'after' }).token}\n`)
    await expect.poll(ask, { timeout: 15_000 }).toBe('after')
    expect(sandbox.requests.every(({ status }) => status === 200)).toBe(true)
  })
})

describe('need 8: a refused credential is recognised by its secret', () => {
  it('need 8: an explicit default scheme does not make it another credential', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    let logins = 0
    const vault = new Vault({ freezeLimitMs: 300 }).onLogin(
      () => {
        logins += 1
        const scheme = logins > 1 ? { scheme: 'Bearer' } : {}
        return { server: sandbox.url, caData: sandbox.caPem, token, ...scheme }
      },
      { id: 'one' },
    )
    await using cluster = await connect({ vault })
    sandbox.revoke(token)
    await expect(cluster.fetch(PATH)).rejects.toMatchObject({ code: 'ERR_LOGIN_FAILED' })
    expect(logins).toBeGreaterThan(1)
    expect(sandbox.requests).toHaveLength(1)
  })
})

describe('need 9: an invalid login', () => {
  const BROKEN = '-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n'
  const unusable: Readonly<Record<string, [Partial<ConnectionFields>, RegExp]>> = {
    'a CA file that is not there': [{ caData: undefined, caPath: '/nowhere/ca' }, /nowhere/],
    'a CA that cannot be parsed': [{ caData: BROKEN }, /cannot be parsed/],
    'a CA that is garbage': [{ caData: '%%%' }, /caData is neither PEM nor base64/],
    'certificate files that are not there': [
      { certificatePath: '/nowhere/crt', privateKeyPath: '/nowhere/key' },
      /nowhere/,
    ],
    'a certificate that cannot be parsed': [
      { certificateData: BROKEN, privateKeyData: BROKEN },
      /certificate/,
    ],
    'a certificate without a key': [{ certificatePath: '/nowhere/crt' }, /no private key/],
    'a username without a password': [{ username: 'jane' }, /username has no password/],
    'a proxy that is none': [{ proxyUrl: 'nonsense://p' }, /proxy/],
  }

  it.each(Object.keys(unusable))(
    'need 9: with %s is skipped for the next one, and reported',
    async (name) => {
      const [fields, says] = unusable[name] ?? [{}, /./]
      const events: CredentialEvent[] = []
      const vault = new Vault({ freezeLimitMs: 10_000 })
      vault.onLogin(() => ({ ...good(), priority: 5, ...fields }), { id: 'bad' })
      vault.onLogin(good, { id: 'good' })
      await using cluster = await connect({ vault, observer: (event) => events.push(event) })
      await expect
        .poll(() => vault.status()?.logins.every(({ state }) => state !== 'running'))
        .toBe(true)
      for (let time = 0; time < 3; time += 1) {
        expect((await cluster.fetch(PATH)).status).toBe(200)
      }
      const [bad] = vault.status()?.logins ?? []
      expect(bad).toMatchObject({
        state: 'failed',
        lastError: { message: expect.stringMatching(says) },
      })
    },
  )
})

describe('need 10: secrets', () => {
  it('need 10: are in nothing that can be printed, whatever happens', async () => {
    const secrets: string[] = []
    const shown: unknown[] = []
    const vault = new Vault({ freezeLimitMs: 10_000 })
    vault.onLogin(
      ({ logger }) => {
        const { token } = sandbox.issueToken({ user: 'jane' })
        // What all tokens of the sandbox begin with is no secret, and may be in a path.
        secrets.push(token.replace(/^sandbox-/, ''))
        logger.info(`got Bearer ${token}`)
        if (secrets.length > 2) throw new Error(`Authorization: Bearer ${token} does not work`)
        return { ...good(), token }
      },
      { id: 'corp', attempts: 1 },
    )
    await using cluster = await connect({ vault, observer: (event) => shown.push(event) })
    sandbox.revoke('jane')
    expect((await cluster.fetch(PATH)).status).toBe(200)
    sandbox.revoke('jane')
    await cluster.fetch(PATH).catch((error: unknown) => shown.push(error))
    shown.push(vault, cluster, vault.status(), cluster.status(), inspect(vault, { depth: 20 }))
    expect(secrets.length).toBeGreaterThan(2)
    expect(shown).toContainEqual(expect.objectContaining({ code: 'ERR_LOGIN_FAILED' }))
    expectNoLeak(shown, secrets)
  })
})
