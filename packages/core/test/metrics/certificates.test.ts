import { createPrivateKey, sign } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import type { Metrics } from 'kubecred/metrics'
import { type SigningRequest, Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { linesOf, makeMetrics, request } from './scene.ts'

const TTL = 'kubecred_certificate_ttl_seconds'
const EXEC_TTL = 'rest_client_exec_plugin_ttl_seconds'
const RELOADS = 'rest_client_transport_ca_reload_total'
const HOUR_MS = 3_600_000

let sandbox: Sandbox
let now: number
let metrics: Metrics
beforeEach(async () => {
  sandbox = await startSandbox()
  // A whole second: certificates have no finer resolution.
  now = Math.floor(Date.now() / 1000) * 1000
  metrics = await makeMetrics({ now: () => now })
})
afterEach(() => sandbox.close())

const pairOf = (lifetimeMs: number) =>
  sandbox.issueCertificate({ user: 'jane', notBefore: new Date(now - HOUR_MS), lifetimeMs })
const fileOf = (name: string): string => join(sandbox.folder, name)
const scrape = (name: string): Promise<string[]> =>
  metrics.register.metrics().then((text) => linesOf(text, name))
const ttl = (): Promise<string[]> => scrape(TTL)

async function use(options: ConnectOptions): Promise<Cluster> {
  const cluster = await connect({ ...options, observer: metrics.observer })
  expect(await request(cluster)).toBe(200)
  return cluster
}

describe('the time to live of a certificate', () => {
  it('is reported for certificate files while they are in use', async () => {
    const { certificate, key } = await pairOf(3 * HOUR_MS)
    writeFileSync(fileOf('c'), certificate)
    writeFileSync(fileOf('k'), key)
    const user = { certificateFile: fileOf('c'), keyFile: fileOf('k') }
    expect(await ttl()).toEqual([])
    const cluster = await use({ kubeconfig: sandbox.writeKubeconfig({ user }) })
    expect(await ttl()).toEqual([`${TTL}{source="certificate-files"} 7200`])
    expect(await scrape(EXEC_TTL)).toEqual([`${EXEC_TTL} +Inf`])
    await cluster.close()
    expect(await ttl()).toEqual([])
  })

  it('is reported for a certificate embedded in the kubeconfig', async () => {
    const { certificate, key } = await pairOf(6 * HOUR_MS)
    const user = { certificate, key }
    await using _ = await use({ kubeconfig: sandbox.writeKubeconfig({ user }) })
    expect(await ttl()).toEqual([`${TTL}{source="static"} 18000`])
  })

  it('is reported under both names for a plugin', async () => {
    const { certificate, key } = await pairOf(2 * HOUR_MS)
    const stdout = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { clientCertificateData: certificate, clientKeyData: key },
    })
    const exec = await sandbox.plugin({ user: 'jane', stdout })
    await using _ = await use({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
    expect(await ttl()).toEqual([`${TTL}{source="exec"} 3600`])
    expect(await scrape(EXEC_TTL)).toEqual([`${EXEC_TTL} 3600`])
  })

  it('is reported as the login’s for a login', async () => {
    const { certificate, key } = await pairOf(4 * HOUR_MS)
    const vault = new Vault().onLogin(
      () => ({
        server: sandbox.url,
        caData: sandbox.caPem,
        certificateData: certificate,
        privateKeyData: key,
      }),
      { id: 'corp' },
    )
    await using _ = await use({ vault })
    expect(await ttl()).toEqual([`${TTL}{source="login"} 10800`])
  })

  it('is reported once for a login with an external key; the earliest expiry of several counts', async () => {
    const [long, short] = [await pairOf(9 * HOUR_MS), await pairOf(5 * HOUR_MS)]
    const vaultWith = ({ certificate, key }: { certificate: string; key: string }): Vault =>
      new Vault().onLogin(
        () => ({
          server: sandbox.url,
          caData: sandbox.caPem,
          certificateData: certificate,
          signingKey: {
            sign: async ({ message }: SigningRequest) =>
              sign('sha256', message, createPrivateKey(key)),
          },
        }),
        { id: 'key' },
      )
    await using _ = await use({ vault: vaultWith(long) })
    const second = await use({ vault: vaultWith(short) })
    expect(await ttl()).toEqual([`${TTL}{source="login"} 14400`])
    await second.close()
    expect(await ttl()).toEqual([`${TTL}{source="login"} 28800`])
  })
})

describe('reloads of a CA file', () => {
  const reloads = async (): Promise<string[]> => (await scrape(RELOADS)).sort()
  const noted = (reason: string): Promise<void> =>
    expect
      .poll(async () => (await reloads()).some((line) => line.includes(`reason="${reason}"`)), {
        timeout: 15_000,
      })
      .toBe(true)

  /** Every result that a reload can have. */
  async function rewrite(path: string): Promise<void> {
    writeFileSync(path, '')
    await noted('empty')
    writeFileSync(path, 'half written')
    await noted('ca_parse_error')
    rmSync(path)
    await noted('read_error')
    writeFileSync(path, sandbox.caPem)
    await noted('unchanged')
    writeFileSync(path, `# new\n${sandbox.caPem}`)
    await noted('updated')
  }

  const EVERY = [
    `${RELOADS}{result="failure",reason="ca_parse_error"} 1`,
    `${RELOADS}{result="failure",reason="empty"} 1`,
    `${RELOADS}{result="failure",reason="read_error"} 1`,
    `${RELOADS}{result="success",reason="unchanged"} 1`,
    `${RELOADS}{result="success",reason="updated"} 1`,
  ]

  it('are counted by result for a kubeconfig', async () => {
    const certificateAuthority = fileOf('ca.pem')
    writeFileSync(certificateAuthority, sandbox.caPem)
    const { token } = sandbox.issueToken({ user: 'jane' })
    const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    await using cluster = await use({ kubeconfig, certificateAuthority })
    await rewrite(certificateAuthority)
    expect(await reloads()).toEqual(EVERY)
    expect(await request(cluster)).toBe(200)
  }, 60_000)

  it('are counted for a login', async () => {
    const caPath = fileOf('ca.pem')
    writeFileSync(caPath, sandbox.caPem)
    const { token } = sandbox.issueToken({ user: 'jane' })
    const vault = new Vault().onLogin(() => ({ server: sandbox.url, caPath, token }), {
      id: 'corp',
    })
    await using cluster = await use({ vault })
    writeFileSync(caPath, 'half written')
    await noted('ca_parse_error')
    expect(await request(cluster)).toBe(200)
    writeFileSync(caPath, `# new\n${sandbox.caPem}`)
    await noted('updated')
    expect(await request(cluster)).toBe(200)
  }, 60_000)
})
