import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PIN, type SoftHsm } from '../../../packages/pkcs11/test/soft-token.ts'
import type { TestCluster } from '../harness/test-cluster.ts'

const SIGNER = fileURLToPath(
  new URL('../../../packages/pkcs11/bin/kubecred-pkcs11.mjs', import.meta.url),
)
const ID = '07'

/** A user whose key is in a SoftHSM token with the same name. */
export interface HsmUser {
  readonly user: string
  readonly kubeconfig: string
  readonly env: Readonly<Record<string, string>>
}

/** Creates a token with a key and a certificate that the cluster trusts. The PIN must be typed. */
export async function makeHsmUser(
  hsm: SoftHsm,
  cluster: TestCluster,
  namespace: string,
): Promise<HsmUser> {
  const user = cluster.unique('hsm')
  hsm.addToken(user)
  const { certificate, key } = await cluster.certificate({ user })
  hsm.importPair(user, ID, certificate, key, PIN)
  const { library: pathLib, environment: env } = hsm.spied
  const { server, caPem } = cluster.facts.access
  const config = { pathExec: SIGNER, pathLib, tokenLabel: user, objectIdHex: ID }
  const kubeconfig = join(hsm.folder, `kubeconfig-${user}`)
  const authority = Buffer.from(caPem).toString('base64')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'k', cluster: { server, 'certificate-authority-data': authority } }],
      users: [{ name: 'u', user: { 'auth-provider': { name: 'externalSigner', config } } }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace } }],
      'current-context': 'c',
    }),
  )
  return { user, kubeconfig, env }
}
