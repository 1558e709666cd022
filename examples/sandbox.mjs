// Runs an example with an API server of its own, for readers without a cluster:
//   node examples/sandbox.mjs examples/undici.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'

const [example, ...args] = process.argv.slice(2)
if (!example) throw new Error('usage: node examples/sandbox.mjs EXAMPLE [ARGUMENT…]')

const sandbox = await startSandbox()
const exec = await sandbox.plugin({ user: 'jane' })
const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })

// What single examples need: a pod, a token, and a certificate with its key in the current folder.
const cluster = await connect({ kubeconfig })
const body = JSON.stringify({ metadata: { name: 'web' } })
const headers = { 'content-type': 'application/json' }
await cluster.fetch('/api/v1/namespaces/default/pods', { method: 'POST', headers, body })
await cluster.close()
const { token } = sandbox.issueToken({ user: 'jane' })
const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
writeFileSync(join(sandbox.folder, 'client.crt'), certificate)
writeFileSync(join(sandbox.folder, 'client.key'), key, { mode: 0o600 })
const users = join(dirname(resolve(example)), 'user.yaml')
const files = existsSync(users) ? [kubeconfig, users] : [kubeconfig]

process.on('SIGINT', () => {}) // Ctrl-C ends the example, and that ends the sandbox
const child = spawn(process.execPath, [resolve(example), ...args], {
  cwd: sandbox.folder,
  env: { ...process.env, KUBECONFIG: files.join(delimiter), EXAMPLE_TOKEN: token },
  stdio: 'inherit',
})
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
await sandbox.close()
