// What tools/arm64/smoke.mjs runs on arm64. Nothing here waits for a time: emulation is ten times slower.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'

const PATH = '/api/v1/namespaces'
const sandbox = await startSandbox()
const clusters = []
test.after(async () => {
  for (const cluster of clusters) await cluster.close()
  await sandbox.close()
})

async function open(options) {
  const cluster = await connect(options)
  clusters.push(cluster)
  return cluster
}

async function kubeconfigFor(options) {
  const exec = await sandbox.plugin({ user: 'jane', ...options })
  return sandbox.writeKubeconfig({ user: { exec } })
}

async function statusOf(cluster) {
  const response = await cluster.fetch(PATH)
  await response.text()
  return response.status
}

test('this is arm64', () => assert.equal(process.arch, 'arm64'))

for (const transport of ['pool', 'https', 'http2']) {
  test(`a plugin's token with the transport ${transport}`, async () => {
    const cluster = await open({ kubeconfig: await kubeconfigFor({}), transport })
    assert.equal(await statusOf(cluster), 200)
  })
}

for (const credential of ['token', 'certificate']) {
  test(`a ${credential} is renewed before it expires, under an open watch`, async () => {
    const kubeconfig = await kubeconfigFor({ credential, lifetimeMs: 20_000 })
    let runs = 0
    let renewed
    const isRenewed = new Promise((resolve) => {
      renewed = resolve
    })
    const observer = ({ type }) => {
      if (type === 'run-succeeded' && ++runs === 2) renewed()
    }
    const cluster = await open({ kubeconfig, observer })
    const watch = await cluster.fetch(`${PATH}?watch=true`)
    assert.equal(watch.status, 200)
    await isRenewed
    assert.equal(await statusOf(cluster), 200)
    const name = `seen-${credential}`
    const headers = { 'content-type': 'application/json' }
    await cluster.fetch(PATH, {
      method: 'POST',
      headers,
      body: JSON.stringify({ metadata: { name } }),
    })
    let seen = ''
    for await (const chunk of watch.body) {
      seen += Buffer.from(chunk).toString()
      if (seen.includes(name)) break
    }
    assert.match(seen, new RegExp(name))
  })
}

test('a refused token is replaced, and the request is sent again', async () => {
  const cluster = await open({ kubeconfig: await kubeconfigFor({}) })
  assert.equal(await statusOf(cluster), 200)
  const { token } = await cluster.credential()
  sandbox.revoke(token.expose())
  assert.equal(await statusOf(cluster), 200)
})

test('a login handler', async () => {
  const vault = new Vault()
  const { token } = sandbox.issueToken({ user: 'ann' })
  vault.onLogin(() => ({ server: sandbox.url, caData: sandbox.caPem, token }), { id: 'own' })
  const cluster = await open({ vault })
  assert.equal(await statusOf(cluster), 200)
})

test('a program for another processor is a clear error', async (t) => {
  const formats = readdirSync('/proc/sys/fs/binfmt_misc')
  if (formats.length > 0) return t.skip('this kernel runs programs for other processors')
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command: '/bin/true' } } })
  const cluster = await open({ kubeconfig })
  await assert.rejects(statusOf(cluster), { code: 'ERR_PLUGIN_EXEC_FORMAT' })
})

test('kubecred doctor', async () => {
  const program = fileURLToPath(import.meta.resolve('@kubecred/cli/package.json'))
  const file = program.replace('package.json', 'bin/kubecred.cjs')
  const args = [file, 'doctor', '--kubeconfig', await kubeconfigFor({})]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const status = await new Promise((resolve) => child.once('close', resolve))
  assert.equal(status, 0, out)
  assert.match(out, /identity +jane/)
})
