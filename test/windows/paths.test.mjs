import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { connect } from 'kubecred'
import { put, putPlugin, stanzaFor, startScene } from './scene.mjs'

const scene = await startScene()
const { sandbox, folder } = scene
const text = readFileSync(
  sandbox.writeKubeconfig({ user: sandbox.issueToken({ user: 'jane' }) }),
  'utf8',
)

/** Connects with an environment, and returns the status of a request. */
async function statusWith(env, options = {}) {
  const cluster = await connect({ env, ...options })
  try {
    return (await cluster.fetch('/api/v1/namespaces')).status
  } finally {
    await cluster.close()
  }
}

describe('KUBECONFIG', () => {
  it('is a list separated by semicolons, with quotes, drive letters and both kinds of slashes', async () => {
    const file = put(folder, 'a;b/config', text)
    assert.match(file, /^[A-Z]:\\/)
    const missing = join(folder, 'missing')
    const list = `${missing};"${file.replaceAll('\\', '/')}";${file}`
    assert.equal(await statusWith({ KUBECONFIG: list }), 200)
    assert.equal(await statusWith({ Kubeconfig: list }), 200)
  })

  it('may have a path relative to the current folder', async () => {
    const file = put(folder, 'relative', text)
    assert.equal(await statusWith({ KUBECONFIG: relative(process.cwd(), file) }), 200)
  })
})

describe('the home folder', () => {
  const home = (name) => join(folder, 'homes', name)
  beforeEach(() => rmSync(join(folder, 'homes'), { recursive: true, force: true }))
  const drive = (path) => ({ HOMEDRIVE: path.slice(0, 2), HOMEPATH: path.slice(2) })
  const env = { HOME: home('home'), USERPROFILE: home('profile'), ...drive(home('drive')) }

  for (const [names, chosen] of [
    [['home', 'drive', 'profile'], 'home'],
    [['drive', 'profile'], 'drive'],
    [['profile'], 'profile'],
  ]) {
    it(`is "${chosen}" if there is a kubeconfig in ${names.join(', ')}`, async () => {
      for (const name of ['home', 'drive', 'profile']) mkdirSync(home(name), { recursive: true })
      for (const name of names) {
        put(home(name), '.kube/config', name === chosen ? text : 'current-context: another')
      }
      assert.equal(await statusWith(env), 200)
    })
  }

  it('has the plugin policy, kuberc', async () => {
    put(home('profile'), '.kube/config', text)
    const { batch } = putPlugin(folder, 'denied')
    const { exec } = stanzaFor(scene, batch)
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const own = { USERPROFILE: home('profile') }
    assert.equal(await statusWith(own, { kubeconfig }), 200)
    const policy = (...lines) =>
      put(
        home('profile'),
        '.kube/kuberc',
        ['apiVersion: kubectl.config.k8s.io/v1beta1', 'kind: Preference', ...lines, ''].join(
          '\r\n',
        ),
      )
    policy('credentialPluginPolicy: DenyAll')
    await assert.rejects(statusWith(own, { kubeconfig }), { code: 'ERR_PLUGIN_DENIED' })
    policy(
      'credentialPluginPolicy: Allowlist',
      'credentialPluginAllowlist:',
      `- command: ${JSON.stringify(batch)}`,
    )
    assert.equal(await statusWith(own, { kubeconfig }), 200)
    policy(
      'credentialPluginPolicy: Allowlist',
      'credentialPluginAllowlist:',
      `- command: ${JSON.stringify(join(folder, 'other.cmd'))}`,
    )
    await assert.rejects(statusWith(own, { kubeconfig }), { code: 'ERR_PLUGIN_DENIED' })
  })
})

it('paths in a kubeconfig are relative to its folder, with both kinds of slashes', async () => {
  const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
  put(folder, 'config folder/pki/user.crt', certificate)
  put(folder, 'config folder/user.key', key)
  const config = readFileSync(
    sandbox.writeKubeconfig({
      user: { 'client-certificate': 'pki/user.crt', 'client-key': '.\\user.key' },
    }),
    'utf8',
  )
  const kubeconfig = put(folder, 'config folder/config', config)
  assert.equal(await statusWith({}, { kubeconfig }), 200)
})

it('a missing kubeconfig is reported with its path', async () => {
  const path = join(folder, 'no such file')
  await assert.rejects(statusWith({}, { kubeconfig: path }), (error) => {
    assert.equal(error.code, 'ERR_KUBECONFIG_NOT_FOUND')
    assert.ok(error.message.includes(basename(path)))
    return true
  })
})
