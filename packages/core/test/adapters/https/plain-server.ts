import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { makePair } from '../../fixtures/make-certificates.ts'

/** A server that a test controls, and a cluster for it with the token `secret-token`. */
export interface PlainServer extends AsyncDisposable {
  readonly server: Server
  readonly url: string
  readonly cluster: Cluster
}

export const TOKEN = 'secret-token'

export async function startPlainServer(
  listener: RequestListener,
  options: ConnectOptions = {},
): Promise<PlainServer> {
  const { certificate, key } = await makePair()
  const server = createServer({ cert: certificate, key, maxHeaderSize: 1024 * 1024 }, listener)
  server.maxHeadersCount = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-plain-'))
  const cluster = await connect({ kubeconfig: writeConfig(folder, url), ...options })
  return {
    server,
    url,
    cluster,
    async [Symbol.asyncDispose]() {
      await cluster.close()
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function writeConfig(folder: string, server: string): string {
  const path = join(folder, 'config')
  const content = {
    clusters: [{ name: 'plain', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'plain', user: { token: TOKEN } }],
    contexts: [{ name: 'plain', context: { cluster: 'plain', user: 'plain' } }],
    'current-context': 'plain',
  }
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 })
  return path
}
