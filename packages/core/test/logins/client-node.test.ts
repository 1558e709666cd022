// After kopf's tests/authentication/test_login_via_client_*.py and test_login_via_pykube.py, with client-node in the
// place of those libraries: what a KubeConfig holds becomes a login.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, SERVER_NAME, startSandbox } from '@kubecred/sandbox'
import { KubeConfig, type User } from '@kubernetes/client-node'
import { connect } from 'kubecred'
import { loginViaClientNode } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startConnectProxy } from '../fixtures/proxies.ts'
import { CONTEXT, userOf } from './scene.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** A KubeConfig in which everything is given by hand. */
function kubeConfigOf(sandbox: Sandbox, user: Omit<User, 'name'>, cluster: object = {}) {
  const kc = new KubeConfig()
  const caData = base64(sandbox.caPem)
  kc.loadFromClusterAndUser(
    { name: 'c', server: sandbox.url, caData, skipTLSVerify: false, ...cluster },
    { name: 'u', ...user },
  )
  return kc
}

describe('what a KubeConfig holds', () => {
  let sandbox: Sandbox
  beforeEach(async () => {
    sandbox = await startSandbox({ basic: { jane: 's3cret-71c0' } })
  })
  afterEach(() => sandbox.close())

  const userSeen = (kubeConfig: KubeConfig, files?: string) =>
    userOf(sandbox, (context) => loginViaClientNode(context, { kubeConfig, files }))
  const inFile = (name: string, content: string): string => {
    writeFileSync(join(sandbox.folder, name), content)
    return join(sandbox.folder, name)
  }

  it('a token', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await userSeen(kubeConfigOf(sandbox, { token }))).toBe('jane')
  })

  it('a username and a password; empty ones are anonymous', async () => {
    const basic = { username: 'jane', password: 's3cret-71c0' }
    expect(await userSeen(kubeConfigOf(sandbox, basic))).toBe('jane')
    const empty = kubeConfigOf(sandbox, { username: '', password: '' })
    expect(await userSeen(empty)).toBe('system:anonymous')
  })

  it('a token, which takes precedence over a username', async () => {
    const { token } = sandbox.issueToken({ user: 'token' })
    const kc = kubeConfigOf(sandbox, { token, username: 'jane', password: 's3cret-71c0' })
    expect(await userSeen(kc)).toBe('token')
  })

  it('a certificate and its key, as data and as files, also with a CA file', async () => {
    const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
    const data = { certData: base64(certificate), keyData: base64(key) }
    expect(await userSeen(kubeConfigOf(sandbox, data))).toBe('jane')
    const files = { certFile: inFile('c', certificate), keyFile: inFile('k', key) }
    const ca = { caData: undefined, caFile: inFile('ca', sandbox.caPem) }
    expect(await userSeen(kubeConfigOf(sandbox, files, ca))).toBe('jane')
  })

  it('a plugin, which runs once for many requests, and again when its token is refused', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromFile(sandbox.writeKubeconfig({ user: { exec } }))
    const vault = new Vault().onLogin((context) => loginViaClientNode(context, { kubeConfig }))
    await using cluster = await connect({ vault })
    const list = async () => (await cluster.fetch('/api/v1/namespaces')).status
    expect(await Promise.all(Array.from({ length: 20 }, list))).toEqual(Array(20).fill(200))
    expect(sandbox.pluginRuns).toBe(1)
    sandbox.revoke('jane')
    expect(await list()).toBe(200)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('a plugin, which does not run if the policy denies it', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromFile(sandbox.writeKubeconfig({ user: { exec } }))
    const policy = { apiVersion: 'kubectl.config.k8s.io/v1beta1', kind: 'Preference' }
    const kuberc = inFile(
      'kuberc',
      JSON.stringify({ ...policy, credentialPluginPolicy: 'DenyAll' }),
    )
    const vault = new Vault({ freezeLimitMs: 300 })
    vault.onLogin((context) => loginViaClientNode(context, { kubeConfig }), { id: 'kc' })
    await expect(connect({ vault, kuberc })).rejects.toThrow(/kc failed: .* may not run/)
    expect(sandbox.pluginRuns).toBe(0)
  })

  it('a plugin next to its kubeconfig, and a token file, which client-node drops', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    inFile('plug', `#!/bin/sh\nexec "${exec.command}" "$@"\n`)
    chmodSync(join(sandbox.folder, 'plug'), 0o700)
    const path = sandbox.writeKubeconfig({ user: { exec: { ...exec, command: './plug' } } })
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromFile(path)
    expect(await userSeen(kubeConfig, path)).toBe('jane')

    inFile('token', sandbox.issueToken({ user: 'from-file' }).token)
    const second = sandbox.writeKubeconfig({ user: { tokenFile: 'token' } })
    kubeConfig.loadFromFile(second)
    expect(await userSeen(kubeConfig, second)).toBe('from-file')
  })

  it('what loadFromCluster makes: a token file, which is read again, a CA file, the namespace of the pod', async () => {
    const { hostname, port } = new URL(sandbox.url)
    vi.stubEnv('KUBERNETES_SERVICE_HOST', hostname)
    vi.stubEnv('KUBERNETES_SERVICE_PORT', port)
    const account = 'var/run/secrets/kubernetes.io/serviceaccount'
    mkdirSync(join(sandbox.folder, account), { recursive: true })
    inFile(`${account}/token`, `${sandbox.issueToken({ user: 'pod-1' }).token}\n`)
    inFile(`${account}/ca.crt`, sandbox.caPem)
    inFile(`${account}/namespace`, 'ns\n')
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromCluster(`${sandbox.folder}/`)
    vi.unstubAllEnvs()
    const vault = new Vault().onLogin((context) => loginViaClientNode(context, { kubeConfig }))
    await using cluster = await connect({ vault })
    expect(cluster.namespace).toBe('ns')
    await (await cluster.fetch('/api/v1/namespaces')).text()
    sandbox.revoke('pod-1')
    inFile(`${account}/token`, sandbox.issueToken({ user: 'pod-2' }).token)
    await (await cluster.fetch('/api/v1/namespaces')).text()
    expect(sandbox.requests.map(({ user }) => user)).toEqual(['pod-1', undefined, 'pod-2'])
  })

  it('tls-server-name, insecure TLS, a proxy and the namespace of the context', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    const named = kubeConfigOf(sandbox, { token }, { tlsServerName: SERVER_NAME })
    expect(await userSeen(named)).toBe('jane')
    const unchecked = kubeConfigOf(sandbox, { token }, { caData: undefined, skipTLSVerify: true })
    expect(await userSeen(unchecked)).toBe('jane')
    await using proxy = await startConnectProxy({ to: Number(new URL(sandbox.url).port) })
    const proxied = kubeConfigOf(sandbox, { token }, { proxyUrl: `http://127.0.0.1:${proxy.port}` })
    expect(await userSeen(proxied)).toBe('jane')
    expect(proxy.asked).toEqual([`CONNECT ${new URL(sandbox.url).host}`])
    proxied.contexts[0] = { ...proxied.contexts[0], namespace: 'ns' } as never
    const info = await loginViaClientNode(CONTEXT, { kubeConfig: proxied })
    expect(info?.defaultNamespace).toBe('ns')
  })

  it('changes by the program: the next login uses the new token, or the new context', async () => {
    const kubeConfig = kubeConfigOf(sandbox, { token: sandbox.issueToken({ user: 'one' }).token })
    const vault = new Vault().onLogin((context) => loginViaClientNode(context, { kubeConfig }))
    await using cluster = await connect({ vault })
    const list = async () => (await cluster.fetch('/api/v1/namespaces')).text()
    await list()
    kubeConfig.users[0] = { name: 'u', token: sandbox.issueToken({ user: 'two' }).token }
    sandbox.revoke('one')
    await list()
    kubeConfig.addUser({ name: 'v', token: sandbox.issueToken({ user: 'three' }).token })
    kubeConfig.addContext({ name: 'other', cluster: 'c', user: 'v' })
    kubeConfig.setCurrentContext('other')
    sandbox.revoke('two')
    await list()
    const users = sandbox.requests.map(({ user }) => user)
    expect(users.filter((user) => user !== undefined)).toEqual(['one', 'two', 'three'])
  })
})
