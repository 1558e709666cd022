import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, SERVER_NAME, startSandbox } from '@kubecred/sandbox'
import { KubeConfig, VersionApi } from '@kubernetes/client-node'
import { connect } from 'kubecred'
import {
  clientNodeOptions,
  connectOptions,
  execInfo,
  type PluginInfo,
  readExecInfo,
} from 'kubecred/plugin'
import { Vault } from 'kubecred/vault'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { ExecInfoError } from '../../../src/errors/index.ts'
import { V1 } from './spawn-plugin.ts'

const NAMESPACES = '/api/v1/namespaces'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())
afterEach(() => vi.unstubAllEnvs())

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** The input that a client gives to a plugin. */
function infoOf(fields: object = {}, apiVersion = V1): Promise<PluginInfo> {
  const cluster = {
    server: sandbox.url,
    'certificate-authority-data': base64(sandbox.caPem),
    ...fields,
  }
  return readExecInfo(JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { cluster } }))
}

const nothing: PluginInfo = { apiVersion: V1, interactive: false }

describe('the cluster of a plugin as options of connect()', () => {
  it('is reached anonymously, whatever kubeconfig there is', async () => {
    vi.stubEnv('KUBECONFIG', sandbox.writeKubeconfig({ user: { exec: { command: 'me-again' } } }))
    await using cluster = await connect(connectOptions(await infoOf()))
    expect((await cluster.fetch('/version')).status).toBe(200)
    expect((await cluster.fetch(NAMESPACES)).status).toBe(403)
    expect(sandbox.requests.at(-1)?.hasAuthorization).toBe(false)
  })

  it('is reached with a credential of the plugin', async () => {
    const { token } = sandbox.issueToken({ user: 'bootstrap' })
    await using cluster = await connect({ ...connectOptions(await infoOf()), token })
    expect((await cluster.fetch(NAMESPACES)).status).toBe(200)
    expect(sandbox.requests.at(-1)?.user).toBe('bootstrap')
  })

  it('keeps all fields of the client', async () => {
    await using cluster = await connect(
      connectOptions(await infoOf({ 'tls-server-name': SERVER_NAME })),
    )
    expect((await cluster.fetch('/version')).status).toBe(200)
    await using other = await connect(
      connectOptions(await infoOf({ 'tls-server-name': 'other.test' })),
    )
    await expect(other.fetch('/version')).rejects.toMatchObject({ code: 'ERR_SERVER_UNTRUSTED' })
    const proxyUrl = 'http://user:word@proxy.test:3128'
    const fields = { 'proxy-url': proxyUrl, 'disable-compression': true }
    expect(connectOptions(await infoOf(fields))).toMatchObject({
      kubeconfig: [],
      server: sandbox.url,
      proxyUrl,
      disableCompression: true,
      insecureSkipTlsVerify: false,
    })
  })

  it('is an error if the client did not describe it, or described it wrongly', async () => {
    expect(() => connectOptions(nothing)).toThrow(/did not describe its cluster/)
    const both = await infoOf({ 'insecure-skip-tls-verify': true })
    expect(() => connectOptions(both)).toThrow(ExecInfoError)
  })
})

describe('the cluster of a plugin as a KubeConfig of client-node', () => {
  it('is reached by client-node, with its CA and server name', async () => {
    const kubeConfig = new KubeConfig()
    const options = clientNodeOptions(await infoOf({ 'tls-server-name': SERVER_NAME }))
    kubeConfig.loadFromOptions(options)
    const before = sandbox.requests.length
    await kubeConfig.makeApiClient(VersionApi).getCode()
    expect(sandbox.requests.length).toBe(before + 1)
    expect(sandbox.requests.at(-1)?.hasAuthorization).toBe(false)
    expect(kubeConfig.getCurrentCluster()).toMatchObject({
      server: sandbox.url,
      tlsServerName: SERVER_NAME,
      skipTLSVerify: false,
      caData: base64(sandbox.caPem),
    })
  })

  it('accepts a credential of the plugin', async () => {
    const options = clientNodeOptions(await infoOf())
    const [user] = options.users
    if (user) user.token = sandbox.issueToken({ user: 'bootstrap' }).token
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromOptions(options)
    await kubeConfig.makeApiClient(VersionApi).getCode()
    expect(sandbox.requests.at(-1)?.user).toBe('bootstrap')
  })

  it('has the proxy, and is an error without a cluster', async () => {
    const proxyUrl = 'http://user:word@proxy.test:3128'
    const { clusters } = clientNodeOptions(await infoOf({ 'proxy-url': proxyUrl }))
    expect(clusters).toMatchObject([{ proxyUrl }])
    expect(() => clientNodeOptions(nothing)).toThrow(/did not describe its cluster/)
  })
})

describe('a connection as the input of another plugin', () => {
  it('is the same as kubecred gives to a plugin', async () => {
    const received = join(sandbox.folder, 'received.json')
    const script = join(sandbox.folder, 'plugin.mjs')
    const status = { token: sandbox.issueToken({ user: 'jane' }).token }
    const answer = JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status })
    writeFileSync(
      script,
      `import { writeFileSync } from 'node:fs'
      writeFileSync(${JSON.stringify(received)}, process.env.KUBERNETES_EXEC_INFO)
      console.log(${JSON.stringify(answer)})`,
    )
    const exec = {
      command: process.execPath,
      args: [script],
      interactiveMode: 'Never' as const,
      provideClusterInfo: true,
    }
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec }, extension: { audience: 'x' } })
    const options = { kubeconfig, tlsServerName: SERVER_NAME, disableCompression: true }
    await using cluster = await connect(options)
    expect((await cluster.fetch(NAMESPACES)).status).toBe(200)
    expect(JSON.parse(execInfo(cluster))).toEqual(JSON.parse(readFileSync(received, 'utf8')))
    expect(await readExecInfo(execInfo(cluster, { interactive: true }))).toMatchObject({
      interactive: true,
      cluster: { server: sandbox.url, config: { audience: 'x' }, tlsServerName: SERVER_NAME },
    })
  })

  it('has the proxy of the kubeconfig, and never a credential', async () => {
    const proxyUrl = 'http://user:word@proxy.test:3128'
    const kubeconfig = sandbox.writeKubeconfig({ user: { token: 'hush-4711' } })
    await using cluster = await connect({ kubeconfig, proxyUrl })
    const text = execInfo(cluster, { apiVersion: 'client.authentication.k8s.io/v1beta1' })
    const info = await readExecInfo(text)
    expect(info.cluster?.proxyUrl?.expose()).toBe(proxyUrl)
    expect(info.apiVersion).toBe('client.authentication.k8s.io/v1beta1')
    expect(text).not.toContain('hush-4711')
  })

  it('leads back to the same cluster', async () => {
    const vault = new Vault().onLogin(() => ({ server: sandbox.url, caData: sandbox.caPem }))
    await using cluster = await connect({ vault })
    const info = await readExecInfo(execInfo(cluster))
    await using again = await connect(connectOptions(info))
    expect(again.server).toBe(cluster.server)
    expect((await again.fetch('/version')).status).toBe(200)
    expect(execInfo(again)).toBe(execInfo(cluster))
  })

  it('needs a cluster, not its promise', () => {
    expect(() => execInfo(connect({ server: 'https://127.0.0.1:1', env: {} }) as never)).toThrow(
      /did you forget to await connect\(\)/,
    )
  })
})
