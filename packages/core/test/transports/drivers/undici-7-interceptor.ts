import { readFileSync } from 'node:fs'
import { createInterceptor } from 'kubecred/undici'
import { driveDispatcher } from '../../adapters/undici/drive-undici.ts'
import type { Driver } from '../driver.ts'

const CERTIFICATE =
  'A certificate belongs to a connection, and an interceptor uses connections of the user.'

export const undici7InterceptorDriver: Driver = {
  name: 'kubecred/undici (interceptor, undici 7)',
  tellsErrors: 'as it is',
  cannot: {
    'certificate rotated': CERTIFICATE,
    'certificate refused in the handshake': CERTIFICATE,
    'CA rotated': 'The user opens the connections, with a CA that does not change.',
    proxy: 'The user opens the connections, and chooses their proxy.',
  },
  async open(cluster, { kubeconfig }) {
    const { Agent } = await import('undici')
    const agent = new Agent({ connect: readTrust(kubeconfig) })
    return driveDispatcher(
      agent.compose(createInterceptor(cluster)),
      new URL(cluster.server).origin,
    )
  },
}

/** The CA of the kubeconfig, for connections that are not ours. */
function readTrust(kubeconfig: string): { ca?: string; rejectUnauthorized?: boolean } {
  const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: { cluster: Record<string, string | boolean> }[]
  }
  const { cluster = {} } = clusters[0] ?? {}
  if (cluster['insecure-skip-tls-verify'] === true) return { rejectUnauthorized: false }
  const { 'certificate-authority-data': data, 'certificate-authority': file } = cluster
  if (typeof data === 'string') return { ca: Buffer.from(data, 'base64').toString() }
  return typeof file === 'string' ? { ca: readFileSync(file, 'utf8') } : {}
}
