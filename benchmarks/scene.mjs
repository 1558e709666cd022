// A server in a separate process, and a kubeconfig for it with a fixed token.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function openScene() {
  const server = fork(new URL('serve.mjs', import.meta.url))
  const [{ url }] = await once(server, 'message')
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
  const kubeconfig = join(folder, 'config')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'b', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'b', user: { token: 'benchmark' } }],
      contexts: [{ name: 'b', context: { cluster: 'b', user: 'b' } }],
      'current-context': 'b',
    }),
  )
  return {
    url,
    kubeconfig,
    close() {
      server.disconnect()
      rmSync(folder, { recursive: true })
    },
  }
}
