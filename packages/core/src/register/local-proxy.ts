import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Cluster } from '../connect/cluster.ts'
import { ClusterProxy } from '../proxy/cluster-proxy.ts'
import { serverOptions } from '../proxy/limits.ts'
import type { ProxyRules } from '../proxy/rules.ts'
import type { ProxyAddress } from './child-kubeconfig.ts'
import { makeLocalAuthority } from './local-authority.ts'

const SECRET_BYTES = 32
const DAY_MS = 86_400_000

/** The program runs as the user, so everything is allowed. */
const ALLOW_EVERYTHING: ProxyRules = {
  acceptPaths: [/^/],
  rejectPaths: [],
  rejectMethods: [],
  allowImpersonation: true,
}

/** A proxy for one program. */
export interface LocalProxy extends ProxyAddress {
  /** Closes the proxy and all connections. */
  close(): Promise<void>
}

/** Starts a proxy on 127.0.0.1 that forwards requests with the credential of the cluster. Clients need its secret. */
export async function startLocalProxy(cluster: Cluster, now: () => number): Promise<LocalProxy> {
  const authority = makeLocalAuthority(now)
  const identity = (): { key: string; cert: string; ca: string[] } => {
    const { key, certificate } = authority.issue()
    // Clients need no certificate. Without the empty list Node parses all its root certificates.
    return { key, cert: certificate, ca: [] }
  }
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const server = createServer({ ...serverOptions(), ...identity(), minVersion: 'TLSv1.2' })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  // The observer of the cluster reports internal errors.
  const onError = (): void => {}
  const proxy = new ClusterProxy({ cluster, hosts, secret, rules: ALLOW_EVERYTHING, onError })
  proxy.serve(server)
  // The certificate is valid for a week, and the program may run longer.
  const renewal = setInterval(() => server.setSecureContext(identity()), DAY_MS).unref()
  return {
    url: `https://127.0.0.1:${port}`,
    secret,
    ca: authority.certificate,
    async close() {
      clearInterval(renewal)
      await proxy.close({ graceMs: 0 })
      server.close()
      server.closeAllConnections()
    },
  }
}
