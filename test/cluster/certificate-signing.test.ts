import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'kubecred'
import { expect, inject, it } from 'vitest'
import { credentialOf } from './harness/audit.ts'
import { makeSigningRequest } from './harness/signing-request.ts'
import { TestCluster } from './harness/test-cluster.ts'

const cluster = new TestCluster(inject('cluster'))
const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

it('a certificate of the CertificateSigningRequest API authenticates', async () => {
  const user = cluster.unique('csr')
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const keyFile = join(cluster.folder('csr'), 'key.pem')
  writeFileSync(keyFile, key, { mode: 0o600 })
  const request = makeSigningRequest(keyFile, user, ['suite'])
  await cluster.create(PATH, {
    metadata: { name: user },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      expirationSeconds: 600,
    },
  })
  const { body: made } = await cluster.admin('GET', `${PATH}/${user}`)
  const condition = { type: 'Approved', status: 'True', reason: 'Suite' }
  const approved = await cluster.admin('PUT', `${PATH}/${user}/approval`, {
    ...made,
    status: { conditions: [condition] },
  })
  expect(approved.status, approved.text).toBe(200)
  // There is no controller manager, so the suite issues the certificate for the key in the request.
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const { certificate } = await cluster.certificate({ user, lifetimeMs: 600_000, publicKey: pem })
  const signed = await cluster.admin('PUT', `${PATH}/${user}/status`, {
    ...approved.body,
    status: { ...approved.body.status, certificate: Buffer.from(certificate).toString('base64') },
  })
  expect(signed.status, signed.text).toBe(200)

  const { body: issued } = await cluster.admin('GET', `${PATH}/${user}`)
  const handedOut = Buffer.from(issued.status.certificate, 'base64').toString()
  const ours = await connect({
    kubeconfig: cluster.kubeconfig({ user: { certificate: handedOut, key } }),
  })
  const answer = await ours.fetch(`/api/v1/namespaces?mark=${user}`)
  expect(answer.status).toBe(200)
  await answer.arrayBuffer()
  await ours.close()
  const [event] = cluster.seen(`mark=${user}`)
  const digest = new X509Certificate(handedOut).fingerprint256.replaceAll(':', '').toLowerCase()
  expect(event?.user.username).toBe(user)
  expect(event && credentialOf(event)).toBe(`X509SHA256=${digest}`)
})
