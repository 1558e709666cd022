import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KubeconfigOptions, type Sandbox, startSandbox } from '../../src/index.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(async () => sandbox.close())

function write(options?: KubeconfigOptions) {
  const config = JSON.parse(readFileSync(sandbox.writeKubeconfig(options), 'utf8'))
  return { config, user: config.users[0].user, cluster: config.clusters[0].cluster }
}

it('a kubeconfig names the sandbox and trusts its CA', () => {
  const { config, cluster, user } = write()
  expect(config).toMatchObject({ apiVersion: 'v1', kind: 'Config', 'current-context': 'sandbox' })
  expect(config.contexts[0].context).toEqual({
    cluster: 'sandbox',
    user: 'sandbox',
    namespace: 'default',
  })
  expect(cluster.server).toBe(sandbox.url)
  expect(Buffer.from(cluster['certificate-authority-data'], 'base64').toString()).toBe(
    sandbox.caPem,
  )
  expect(user).toEqual({})
})

it('a kubeconfig is written to the given path, readable only by its owner', () => {
  const path = join(sandbox.folder, 'config')
  expect(sandbox.writeKubeconfig({ path })).toBe(path)
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('a kubeconfig has a new path by default', () => {
  expect(sandbox.writeKubeconfig()).not.toBe(sandbox.writeKubeconfig())
})

it.each([
  { given: { token: 't' }, written: { token: 't' } },
  { given: { tokenFile: '/t' }, written: { tokenFile: '/t' } },
  {
    given: { certificate: 'c', key: 'k' },
    written: { 'client-certificate-data': 'Yw==', 'client-key-data': 'aw==' },
  },
  { given: { username: 'u', password: 'p' }, written: { username: 'u', password: 'p' } },
  {
    given: { token: 't', impersonate: 'jane', impersonateGroups: ['dev'] },
    written: { token: 't', as: 'jane', 'as-groups': ['dev'] },
  },
  {
    given: { 'client-certificate-data': 'Yw==', 'client-key-data': 'aw==' },
    written: { 'client-certificate-data': 'Yw==', 'client-key-data': 'aw==' },
  },
  {
    given: { 'client-certificate': '/c', 'client-key': '/k' },
    written: { 'client-certificate': '/c', 'client-key': '/k' },
  },
  {
    given: { as: 'jane', 'as-uid': '1', 'as-groups': ['dev'], 'as-user-extra': { a: ['b'] } },
    written: { as: 'jane', 'as-uid': '1', 'as-groups': ['dev'], 'as-user-extra': { a: ['b'] } },
  },
  {
    given: { 'auth-provider': { name: 'externalSigner', config: { pathExec: '/signer' } } },
    written: { 'auth-provider': { name: 'externalSigner', config: { pathExec: '/signer' } } },
  },
  { given: { token: 't', expirationTimestamp: 'soon' }, written: { token: 't' } },
  { given: { token: 't', password: undefined }, written: { token: 't' } },
])('has a user with $written', ({ given, written }) => {
  expect(write({ user: given }).user).toEqual(written)
})

it('a kubeconfig can have a user with a plugin', async () => {
  const exec = await sandbox.plugin({ user: 'jane' })
  const { user } = write({ user: { exec: { ...exec, provideClusterInfo: true } } })
  expect(user.exec).toMatchObject({
    apiVersion: 'client.authentication.k8s.io/v1',
    command: exec.command,
    interactiveMode: 'IfAvailable',
    provideClusterInfo: true,
  })
  expect(user.exec.env).toContainEqual({ name: 'KUBECRED_SANDBOX_PLUGIN', value: '1' })
})

it('a kubeconfig can have cluster fields for plugins and TLS tests', () => {
  const { cluster } = write({
    extension: { a: 1 },
    tlsServerName: 'x',
    insecureSkipTlsVerify: true,
  })
  expect(cluster).toEqual({
    server: sandbox.url,
    'insecure-skip-tls-verify': true,
    'tls-server-name': 'x',
    extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { a: 1 } }],
  })
})

it('the environment of a plugin may be a list of names and values', () => {
  const env = [{ name: 'A', value: 'b' }]
  expect(write({ user: { exec: { command: 'x', env } } }).user.exec.env).toEqual(env)
})

describe('writeKubeconfig() rejects', () => {
  it.each<{ options: object; says: string }>([
    { options: { user: { tokn: 't' } }, says: 'has no "tokn"; did you mean token?' },
    { options: { user: { tokne: 't' } }, says: 'did you mean token?' },
    { options: { user: { authProvider: {} } }, says: 'did you mean auth-provider?' },
    {
      options: { user: { clientCertificateData: '' } },
      says: 'did you mean client-certificate-data?',
    },
    { options: { user: { zzzzzz: 1 } }, says: 'valid names: token, tokenFile, certificate' },
    { options: { usr: {} }, says: 'writeKubeconfig() has no "usr"; did you mean user?' },
    { options: { insecure: true }, says: 'valid names: path, user, namespace' },
    {
      options: { user: { exec: { command: 'x', arg: [] } } },
      says: 'the exec of writeKubeconfig() has no "arg"; did you mean args?',
    },
    {
      options: { user: { 'auth-provider': { name: 'oidc', confg: {} } } },
      says: 'the auth-provider of writeKubeconfig() has no "confg"; did you mean config?',
    },
    { options: { user: 'jane' }, says: 'the user of writeKubeconfig() must be an object' },
    { options: { user: { toString: 1 } }, says: 'has no "toString"' },
  ])('unknown or invalid fields: $says', ({ options, says }) => {
    const path = join(sandbox.folder, 'never')
    const error = thrownBy(() => sandbox.writeKubeconfig({ path, ...options } as KubeconfigOptions))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toContain(says)
    expect(existsSync(path)).toBe(false)
  })

  it('a field that is set by both of its names', () => {
    expect(() => write({ user: { certificate: 'c', 'client-certificate-data': 'Yw==' } })).toThrow(
      'has certificate and client-certificate-data, which are the same field',
    )
  })
})

function thrownBy(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
