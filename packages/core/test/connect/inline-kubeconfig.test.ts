import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { AuthenticationV1Api, KubeConfig } from '@kubernetes/client-node'
import { connect, type KubeconfigObject } from 'kubecred'
import { attach } from 'kubecred/client-node'
import { diagnose } from 'kubecred/diagnose'
import { loginWithKubeconfig } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let folder: string
beforeEach(async () => {
  sandbox = await startSandbox()
  folder = mkdtempSync(join(tmpdir(), 'kubecred-inline-'))
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await sandbox.close()
})

/** A kubeconfig of the sandbox with these fields of its only user. */
function configOf(user: object, cluster: object = {}): KubeconfigObject {
  const { 'certificate-authority-data': ca, server } = JSON.parse(
    readFileSync(sandbox.writeKubeconfig(), 'utf8'),
  ).clusters[0].cluster
  return {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'n' } }],
    clusters: [
      { name: 'k', cluster: { server, 'certificate-authority-data': ca, ...cluster } },
      { name: 'other', cluster: { server, 'certificate-authority': 'relative.pem' } },
    ],
    users: [{ name: 'u', user }],
  }
}

const tokenOf = (user: string): string => sandbox.issueToken({ user }).token
const textOf = (config: KubeconfigObject): string => JSON.stringify(config)

async function userOf(options: Parameters<typeof connect>[0]): Promise<string | undefined> {
  await using cluster = await connect(options)
  await (await cluster.fetch('/version')).text()
  return sandbox.requests.at(-1)?.user
}

describe('a kubeconfig without a file', () => {
  it('can be text or a parsed object, with the same meaning', async () => {
    const kubeconfig = configOf({ token: tokenOf('jane') })
    expect(await userOf({ kubeconfig })).toBe('jane')
    expect(await userOf({ kubeconfig: { text: textOf(kubeconfig) } })).toBe('jane')
    const statuses = [kubeconfig, { text: textOf(kubeconfig) }].map(async (each) => {
      await using cluster = await connect({ kubeconfig: each })
      return cluster.status()
    })
    const [one, other] = await Promise.all(statuses)
    expect(one).toMatchObject({ context: 'c', cluster: 'k', user: 'u', namespace: 'n' })
    expect(one).toEqual(other)
  })

  it('is used instead of KUBECONFIG, and with overrides', async () => {
    const kubeconfig = configOf({ token: 'wrong' })
    const options = { kubeconfig, token: tokenOf('ann'), env: { KUBECONFIG: '/does/not/exist' } }
    expect(await userOf(options)).toBe('ann')
  })

  it('is read once: a change of the object does not matter', async () => {
    const kubeconfig = configOf({ token: tokenOf('jane') })
    await using cluster = await connect({ kubeconfig })
    Object.assign(kubeconfig, configOf({ token: 'wrong' }))
    Object.assign((kubeconfig.users as object[])[0] ?? {}, { user: { token: 'wrong' } })
    expect((await cluster.fetch('/version')).status).toBe(200)
  })

  it('resolves relative paths against its folder, which may be relative itself', async () => {
    writeFileSync(join(folder, 'token'), tokenOf('filed'))
    const text = textOf(configOf({ tokenFile: 'token' }))
    expect(await userOf({ kubeconfig: { text, folder } })).toBe('filed')
    const fromHere = relative(process.cwd(), folder)
    expect(await userOf({ kubeconfig: { text, folder: fromHere } })).toBe('filed')
  })

  it.runIf(process.platform !== 'win32')('runs a plugin in its folder', async () => {
    const apiVersion = 'client.authentication.k8s.io/v1'
    const status = { token: tokenOf('plugged') }
    const answer = JSON.stringify({ apiVersion, kind: 'ExecCredential', status })
    writeFileSync(join(folder, 'plugin'), `#!/bin/sh\necho '${answer}'\n`)
    chmodSync(join(folder, 'plugin'), 0o755)
    const exec = { apiVersion, command: './plugin', interactiveMode: 'Never' }
    const text = textOf(configOf({ exec }))
    expect(await userOf({ kubeconfig: { text, folder } })).toBe('plugged')
  })

  it.each<[string, object, object, string]>([
    [
      'a CA',
      {},
      { 'certificate-authority': 'ca.pem' },
      'cluster "k" in the given kubeconfig has a',
    ],
    ['a token file', { tokenFile: './t' }, {}, 'has a relative path in tokenFile, and no folder'],
    ['a key', { 'client-key': 'k', 'client-certificate': '/c' }, {}, 'relative path in client-key'],
    [
      'a plugin',
      { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'bin/p' } },
      {},
      'user "u" in the given kubeconfig has a relative path in exec.command',
    ],
    [
      'the CA of an issuer',
      { 'auth-provider': { name: 'oidc', config: { 'idp-certificate-authority': 'ca.pem' } } },
      {},
      'in auth-provider.config.idp-certificate-authority',
    ],
  ])('is invalid with a relative path to %s and no folder', async (_, user, cluster, message) => {
    const config = configOf(user, { 'certificate-authority-data': undefined, ...cluster })
    for (const kubeconfig of [config, { text: textOf(config) }]) {
      await expect(connect({ kubeconfig })).rejects.toMatchObject({
        code: 'ERR_KUBECONFIG_INVALID',
        message: expect.stringContaining(message) as unknown,
        hint: expect.stringContaining('Pass kubeconfig as { text, folder }') as unknown,
      })
    }
  })

  it('may have a relative path that an option replaces, and a plugin that is looked up in PATH', async () => {
    const token = tokenOf('jane')
    expect(await userOf({ kubeconfig: configOf({ tokenFile: 'relative' }), token })).toBe('jane')
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin' }
    await using cluster = await connect({
      kubeconfig: configOf({ exec: { ...exec, interactiveMode: 'Never' } }),
    })
    await expect(cluster.fetch('/version')).rejects.toMatchObject({ code: 'ERR_PLUGIN_NOT_FOUND' })
  })

  it.each<[string, (config: KubeconfigObject) => KubeconfigObject | { text: string }, object]>([
    [
      'broken YAML, which is not quoted',
      () => ({ text: 'users: [{ token: hush-hush' }),
      {
        code: 'ERR_KUBECONFIG_SYNTAX',
        message: expect.stringMatching(/^the given kubeconfig: (?!.*hush)/) as unknown,
      },
    ],
    [
      'a field of the wrong type',
      (config) => ({ ...config, users: [{ name: 'u', user: { token: 5 } }] }),
      { message: expect.stringMatching(/^the given kubeconfig: users\[0\] "u"/) as unknown },
    ],
    [
      'a context that does not exist',
      (config) => ({ ...config, 'current-context': 'x' }),
      { hint: expect.stringContaining('current-context in the given kubeconfig') as unknown },
    ],
    [
      'a cluster that does not exist',
      (config) => ({ ...config, clusters: [] }),
      { message: expect.stringContaining('context "c" in the given kubeconfig') as unknown },
    ],
    [
      'nothing in it',
      () => ({ clusters: [], contexts: [], users: [] }),
      {
        code: 'ERR_KUBECONFIG_EMPTY',
        message: 'no cluster is configured (looked in the given kubeconfig)',
      },
    ],
  ])('names itself in the error about %s', async (_, change, error) => {
    const kubeconfig = change(configOf({ token: 't' }))
    await expect(connect({ kubeconfig, env: {} })).rejects.toMatchObject(error)
  })

  it.each<[string, unknown, string]>([
    ['a number', 5, 'with clusters, contexts and users, got a number'],
    [
      'null',
      null,
      'kubeconfig must be a path, a list of paths, { text, folder } or a parsed kubec',
    ],
    ['bytes', new Uint8Array(), 'got an instance of Uint8Array'],
    ['a URL', new URL('file:///a'), 'got an instance of URL'],
    ['a list with a number', ['/a', 5], 'got a list with a number'],
    ['an empty object', {}, 'got an empty object'],
    ['another object', { path: '/a' }, 'got an object with path'],
    ['a KubeConfig of client-node', new KubeConfig(), 'got an instance of KubeConfig'],
    ['text that is bytes', { text: Buffer.from('') }, 'kubeconfig.text must be a string, got an'],
    ['an empty folder', { text: '', folder: '' }, 'kubeconfig.folder must be the path of a folder'],
    ['a misspelt folder', { text: '', foldr: '/' }, 'no option "foldr"; did you mean folder?'],
  ])('is a TypeError if it is %s', async (_, kubeconfig, message) => {
    const error = await connect({ kubeconfig: kubeconfig as never }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain(message)
    expect(() => attach(new KubeConfig(), { kubeconfig: kubeconfig as never })).toThrow(message)
    const context = { signal: new AbortController().signal }
    const login = loginWithKubeconfig(context, { kubeconfig: kubeconfig as never })
    await expect(login).rejects.toThrow(message)
  })

  it('works in a login handler, which reads the object at each login', async () => {
    const kubeconfig = { ...configOf({ token: tokenOf('first') }) }
    const vault = new Vault().onLogin((context) => loginWithKubeconfig(context, { kubeconfig }), {
      id: 'inline',
    })
    await using cluster = await connect({ vault })
    await cluster.fetch('/version')
    Object.assign(kubeconfig, configOf({ token: tokenOf('second') }))
    sandbox.revoke('first')
    expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
    expect(sandbox.requests.at(-1)?.user).toBe('second')
  })

  it('gives attach() the fields that client-node drops when it loads a string', async () => {
    const { token } = sandbox.issueToken({ user: 'root', groups: ['system:masters'] })
    const text = textOf(configOf({ token, as: 'guest', 'as-groups': ['readers'] }))
    const kc = new KubeConfig()
    kc.loadFromString(text)
    await using _ = attach(kc, { kubeconfig: { text } })
    const review = await kc.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    })
    expect(review.status?.userInfo).toMatchObject({
      username: 'guest',
      groups: expect.arrayContaining(['readers']) as unknown,
    })
  })

  it('is named as such by diagnose()', async () => {
    const summaries: string[] = []
    for await (const { summary } of diagnose({ kubeconfig: configOf({ token: tokenOf('jane') }) }))
      summaries.push(summary)
    expect(summaries).toContain('passed as an option, 1 context')
  })
})
