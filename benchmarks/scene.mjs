// A server in a separate process, and a kubeconfig for it with a fixed token and the CA of the server.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDistance } from './distance.mjs'

const SERVER = new URL('serve.mjs', import.meta.url)
/** The headers that every client sends, including ours. */
export const HEADERS = {
  'user-agent': 'benchmark/1.0.0',
  'accept-encoding': 'gzip',
  authorization: 'Bearer benchmark',
}

/**
 * @param {{ http2?: boolean, closes?: boolean, roundTripMs?: number }} options HTTP/2 beside HTTP/1.1; whether the server
 * closes the connection after each response; the time of a round trip.
 */
export async function openScene({ http2 = false, closes = false, roundTripMs = 0 } = {}) {
  const distance = roundTripMs > 0 ? await openDistance(roundTripMs) : undefined
  const { host = '127.0.0.1', execPath, execArgv = [] } = distance ?? {}
  const features = [...(http2 ? ['http2'] : []), ...(closes ? ['close'] : [])]
  const server = fork(SERVER, [host, ...features], {
    execArgv,
    ...(execPath !== undefined && { execPath }),
  })
  const [{ url: own, ca }] = await once(server, 'message')
  const url = (await distance?.reach?.(own)) ?? own
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
  const kubeconfig = join(folder, 'config')
  writeFileSync(kubeconfig, kubeconfigOf(url, ca))
  return {
    url,
    ca,
    kubeconfig,
    /** How the round trip is made longer. */
    way: distance?.way,
    close() {
      server.disconnect()
      distance?.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function kubeconfigOf(server, ca) {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  return JSON.stringify({
    clusters: [{ name: 'b', cluster }],
    users: [{ name: 'b', user: { token: 'benchmark' } }],
    contexts: [{ name: 'b', context: { cluster: 'b', user: 'b' } }],
    'current-context': 'b',
  })
}
