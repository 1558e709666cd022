import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, type CredentialEvent, connect, isCredentialError } from 'kubecred'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PluginDeniedError, PolicyInvalidError } from '../../src/errors/index.ts'
import { makePlugin, type PluginFolder } from '../fixtures/plugin-folder.ts'

let sandbox: Sandbox
let plugin: PluginFolder
let answer = ''
beforeAll(async () => {
  sandbox = await startSandbox()
  answer = sandbox.issueToken({ user: 'jane' }).token
})
afterAll(() => sandbox.close())
beforeEach(() => {
  plugin = makePlugin('my-plugin')
  plugin.answer({ token: answer })
})
afterEach(() => plugin[Symbol.dispose]())

const at = (name: string): string => join(plugin.folder, name)

interface Entry {
  readonly command: string
  readonly sha256?: string
}

function kuberc(type: string | undefined, allowlist?: readonly Entry[]): string {
  const policy = { credentialPluginPolicy: type, credentialPluginAllowlist: allowlist }
  const head = { apiVersion: 'kubectl.config.k8s.io/v1beta1', kind: 'Preference' }
  const path = at('kuberc')
  writeFileSync(path, JSON.stringify({ ...head, ...policy }), { mode: 0o600 })
  return path
}

/** What becomes of a request: its status, or the code of its error. */
async function request(command: string, options: ConnectOptions = {}) {
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command } } })
  const events: CredentialEvent[] = []
  const env = { PATH: `${plugin.folder}:${at('bin')}`, HOME: at('home') }
  const observer = (event: CredentialEvent) => void events.push(event)
  try {
    await using cluster = await connect({ kubeconfig, env, observer, ...options })
    const response = await cluster.fetch('/api/v1/namespaces')
    await response.arrayBuffer()
    return { outcome: response.status, events }
  } catch (error) {
    if (!isCredentialError(error)) throw error
    return { outcome: error.code, error, events }
  }
}

const DENIED = 'ERR_PLUGIN_DENIED'

describe('the policy', () => {
  it('is taken from the option, KUBERC or the home folder', async () => {
    const path = kuberc('DenyAll')
    const env = { PATH: plugin.folder, HOME: at('home') }
    expect(await request('my-plugin', { kuberc: path })).toMatchObject({ outcome: DENIED })
    const named = { ...env, KUBERC: path }
    expect(await request('my-plugin', { env: named })).toMatchObject({ outcome: DENIED })
    mkdirSync(at('home/.kube'), { recursive: true })
    copyFileSync(path, at('home/.kube/kuberc'))
    expect(await request('my-plugin', { env })).toMatchObject({ outcome: DENIED })
    const off = { ...env, KUBERC: 'off' }
    expect(await request('my-plugin', { env: off })).toMatchObject({ outcome: 200 })
  })

  it('DenyAll is reported with its file, and nothing is started', async () => {
    plugin.behave('reports')
    const path = kuberc('DenyAll')
    const { error, events } = await request(plugin.path, { kuberc: path })
    expect(error).toBeInstanceOf(PluginDeniedError)
    expect(error?.message).toContain(`the policy in ${JSON.stringify(path)} is DenyAll`)
    expect(events).toContainEqual(expect.objectContaining({ type: 'policy', verdict: 'denied' }))
    expect(() => plugin.read('runs')).toThrow()
  })

  it('that cannot be trusted is an error when connecting, and nothing is started', async () => {
    plugin.behave('reports')
    const path = kuberc('AllowAll')
    chmodSync(path, 0o666)
    const { error } = await request(plugin.path, { kuberc: path })
    expect(error).toBeInstanceOf(PolicyInvalidError)
    expect(() => plugin.read('runs')).toThrow()
  })

  it('does not matter to a user without a plugin', async () => {
    const kubeconfig = sandbox.writeKubeconfig({ user: { token: answer } })
    await using cluster = await connect({ kubeconfig, kuberc: kuberc('DenyAll') })
    const response = await cluster.fetch('/api/v1/namespaces')
    expect([response.status, await response.json()]).toMatchObject([200, { kind: 'NamespaceList' }])
  })
})

describe('the allowlist', () => {
  /** The folder comes before `bin` in PATH; both have a program called `twin`. */
  beforeEach(() => {
    mkdirSync(at('bin'))
    mkdirSync(at('shims'))
    for (const name of ['behaviour', 'answer.json']) copyFileSync(at(name), at(`bin/${name}`))
    for (const name of ['twin', 'bin/twin']) copyFileSync(plugin.path, at(name))
    symlinkSync(plugin.path, at('link'))
    symlinkSync(plugin.path, at('shims/my-plugin'))
  })

  // Upstream's rules (KEP-3104), then where ours are narrower.
  it.each<[string, string, 200 | typeof DENIED]>([
    ['my-plugin', 'my-plugin', 200],
    ['my-plugin', '/my-plugin', 200],
    ['/my-plugin', '/my-plugin', 200],
    ['/my-plugin', 'my-plugin', 200],
    ['twin', '/twin', 200],
    ['twin', '/bin/twin', DENIED],
    ['/bin/twin', 'twin', DENIED],
    ['/bin/twin', '/bin/twin', 200],
    ['other', 'my-plugin', DENIED],
    ['missing/my-plugin', 'my-plugin', DENIED],
    ['link', 'link', 200],
    ['/link', 'link', 200],
    ['my-plugin', 'link', DENIED],
    ['link', 'my-plugin', DENIED],
    ['my-plugin', '/shims/my-plugin', DENIED],
    ['/shims/my-plugin', 'my-plugin', DENIED],
  ])('with the entry %s and the command %s: %s', async (entry, command, outcome) => {
    const full = (name: string): string => (name.startsWith('/') ? at(name.slice(1)) : name)
    const path = kuberc('Allowlist', [{ command: 'first' }, { command: full(entry) }])
    expect(await request(full(command), { kuberc: path })).toMatchObject({ outcome })
  })

  it('does not allow a name that now resolves to another file', async () => {
    const path = kuberc('Allowlist', [{ command: at('twin') }])
    expect(await request('twin', { kuberc: path })).toMatchObject({ outcome: 200 })
    const policy = { pluginFolders: [at('bin')] }
    expect(await request('twin', { kuberc: path, policy })).toMatchObject({ outcome: DENIED })
  })

  it('checks the digest of a program each time it runs', async () => {
    const sha256 = createHash('sha256').update(readFileSync(plugin.path)).digest('hex')
    const entry = { command: 'my-plugin', sha256: sha256.toUpperCase() }
    const path = kuberc('Allowlist', [entry])
    expect(await request('my-plugin', { kuberc: path })).toMatchObject({ outcome: 200 })
    writeFileSync(plugin.path, `${plugin.read('my-plugin')}\n`)
    expect(await request('my-plugin', { kuberc: path })).toMatchObject({ outcome: DENIED })
  })
})

describe('the folders of policy.pluginFolders', () => {
  beforeEach(() => {
    mkdirSync(at('bin'))
    plugin.behave('reports')
  })

  /** Returns the PATH that the plugin had. */
  async function pathOf(options: ConnectOptions): Promise<string | undefined> {
    expect(await request(plugin.path, options)).toMatchObject({ outcome: 200 })
    return JSON.parse(plugin.read('runs')).env.PATH
  }

  it('are at the end of the PATH of the plugin, once', async () => {
    const pluginFolders = [at('bin'), '/usr/bin', at('bin'), 'relative', '']
    const env = { PATH: '/usr/bin::/bin', HOME: at('home') }
    expect(await pathOf({ env, policy: { pluginFolders } })).toBe(`/usr/bin::/bin:${at('bin')}`)
    expect(env.PATH).toBe('/usr/bin::/bin')
  })

  it('do not bring back a PATH that policy.pluginEnv leaves out', async () => {
    const policy = { pluginFolders: [at('bin')], pluginEnv: ['HOME'] }
    expect(await pathOf({ policy })).toBeUndefined()
  })
})

describe('a plugin that every user could replace', () => {
  beforeEach(() => chmodSync(plugin.path, 0o777))

  it('runs with a warning', async () => {
    const { outcome, events } = await request(plugin.path)
    expect(outcome).toBe(200)
    const message = `${JSON.stringify(plugin.path)} can be changed by every user`
    expect(events).toContainEqual(expect.objectContaining({ type: 'warning', message }))
  })

  it('does not run if the policy denies it', async () => {
    const { error } = await request(plugin.path, { policy: { refuseWritablePlugins: true } })
    expect(error).toBeInstanceOf(PluginDeniedError)
    expect(error?.message).toContain('can be changed by every user')
    chmodSync(plugin.path, 0o755)
    const again = await request(plugin.path, { policy: { refuseWritablePlugins: true } })
    expect(again.outcome).toBe(200)
  })
})

describe('variables in exec.env that load code into any program', () => {
  const variables = {
    LD_PRELOAD: '/x.so',
    NODE_OPTIONS: '--title=x',
    BASH_ENV: '/x.sh',
    AWS_PROFILE: 'dev',
  }

  async function seenBy(type: string | undefined, allowlist?: readonly Entry[]) {
    const answering = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: answer },
    })
    // Not with env, which is another program.
    const script = `#!/bin/sh\necho "$LD_PRELOAD $NODE_OPTIONS $BASH_ENV $AWS_PROFILE" > ${at('seen')}\necho '${answering}'\n`
    writeFileSync(at('says'), script, { mode: 0o700 })
    const kubeconfig = sandbox.writeKubeconfig({
      user: { exec: { command: at('says'), env: variables } },
    })
    const options = { kubeconfig, kuberc: kuberc(type, allowlist) }
    const { outcome, events } = await request('unused', options)
    expect(outcome).toBe(200)
    const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
    return { seen: readFileSync(at('seen'), 'utf8').trim(), warnings }
  }

  it('are not passed under an allowlist, with a warning', async () => {
    const { seen, warnings } = await seenBy('Allowlist', [{ command: at('says') }])
    expect(seen).toBe('dev')
    const left = warnings.map((text) => text.split(' ')[0])
    expect(left).toEqual(['LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV'])
    expect(warnings.join()).not.toContain('/x')
  })

  it('are passed if every plugin may run, as kubectl does', async () => {
    expect(await seenBy('AllowAll')).toEqual({
      seen: '/x.so --title=x /x.sh dev',
      warnings: [],
    })
  })
})
