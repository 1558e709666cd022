import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from 'kubecred'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { hasSoftHsm, NEEDS, PIN, SOFTHSM, SoftHsm } from '../../packages/pkcs11/test/soft-token.ts'
import { credentialOf } from './harness/audit.ts'
import { TestCluster } from './harness/test-cluster.ts'

const SIGNER = fileURLToPath(
  new URL('../../packages/pkcs11/bin/kubecred-pkcs11.mjs', import.meta.url),
)
const cluster = new TestCluster(inject('cluster'))
const hsm = hasSoftHsm ? new SoftHsm() : undefined
afterAll(() => hsm?.[Symbol.dispose]())

/** A key in a SoftHSM token, with a certificate that the cluster trusts. */
async function addKey(
  token: SoftHsm,
  type: 'EC:prime256v1' | 'RSA:2048',
  id: string,
  user: string,
) {
  token.addToken(user)
  token.addKey(user, { type, id, label: user })
  const publicKey = token.publicKey(user, id).export({ type: 'spki', format: 'pem' }).toString()
  const { certificate } = await cluster.certificate({ user, publicKey })
  const file = join(token.folder, `${user}.der`)
  writeFileSync(file, new X509Certificate(certificate).raw)
  token.run('pkcs11-tool', [
    ...['--module', SOFTHSM, '--token-label', user, '--login', '--pin', PIN],
    ...['--write-object', file, '--type', 'cert', '--id', id, '--label', user],
  ])
  return certificate
}

function signerKubeconfig(folder: string, tokenLabel: string, objectIdHex: string): string {
  const { access } = cluster.facts
  const config = { pathExec: SIGNER, pathLib: SOFTHSM, tokenLabel, objectIdHex }
  const ca = Buffer.from(access.caPem).toString('base64')
  const path = join(folder, `kubeconfig-${tokenLabel}`)
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [
        { name: 'k', cluster: { server: access.server, 'certificate-authority-data': ca } },
      ],
      users: [{ name: 'u', user: { 'auth-provider': { name: 'externalSigner', config } } }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      'current-context': 'c',
    }),
  )
  return path
}

describe.skipIf(!hasSoftHsm)(`a key in SoftHSM with kube-apiserver (${NEEDS})`, () => {
  it.each(['EC:prime256v1', 'RSA:2048'] as const)('signs for mutual TLS: %s', async (type) => {
    if (hsm === undefined) return
    const user = cluster.unique('hsm')
    const certificate = await addKey(hsm, type, '07', user)
    const ours = await connect({
      kubeconfig: signerKubeconfig(hsm.folder, user, '07'),
      env: { ...process.env, ...hsm.environment, KUBECRED_PKCS11_PIN: PIN },
    })
    const answer = await ours.fetch(`/api/v1/namespaces?mark=${user}`)
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    await ours.close()
    const digest = new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()
    const [event] = cluster.seen(`mark=${user}`)
    expect(event?.user.username).toBe(user)
    expect(event && credentialOf(event)).toBe(`X509SHA256=${digest}`)
  })
})
