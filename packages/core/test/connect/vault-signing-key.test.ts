import { createPrivateKey, sign as signWith } from 'node:crypto'
import { startSandbox } from '@kubecred/sandbox'
import { afterEach, describe, expect, it } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { type SigningRequest, Vault } from '../../src/vault/index.ts'

const sandboxes: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const sandbox of sandboxes.splice(0)) await sandbox.close()
})

async function openScene() {
  const sandbox = await startSandbox()
  sandboxes.push(sandbox)
  const { certificate, key } = await sandbox.issueCertificate({ user: 'jane', groups: ['dev'] })
  const privateKey = createPrivateKey(key)
  const asked: SigningRequest[] = []
  const signingKey = {
    async sign(request: SigningRequest) {
      asked.push(request)
      return signWith('sha256', request.message, privateKey)
    },
  }
  return { sandbox, certificate, asked, signingKey }
}

describe('a login handler that returns a signing key', () => {
  it('is authenticated by it, with one signature for many requests', async () => {
    const { sandbox, certificate, asked, signingKey } = await openScene()
    const vault = new Vault()
    vault.onLogin(() => ({
      server: sandbox.url,
      caData: sandbox.caPem,
      certificateData: certificate,
      signingKey,
    }))
    const cluster = await connect({ vault })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => cluster.fetch('/api/v1/namespaces')),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(new Set(sandbox.requests.map(({ user }) => user))).toEqual(new Set(['jane']))
    expect(asked).toHaveLength(1)
    await expect(cluster.tlsOptions()).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED' })
    await cluster.close()
  })

  it('must return the certificate, and no private key', async () => {
    const { signingKey, certificate } = await openScene()
    const vault = new Vault({ freezeLimitMs: 300 })
    const server = 'https://127.0.0.1:1'
    vault.onLogin(() => ({ server, signingKey }), { id: 'bare' })
    vault.onLogin(
      () => ({ server, signingKey, certificateData: certificate, privateKeyPath: '/key' }),
      { id: 'both' },
    )
    vault.onLogin(() => ({ server, signingKey: {} as never, certificateData: certificate }), {
      id: 'empty',
    })
    const error = await connect({ vault }).catch((reason: unknown) => reason)
    expect(String(error)).toContain('the signingKey has no certificate')
    expect(String(error)).toContain('signingKey and a private key are both given')
    expect(String(error)).toContain('signingKey has no function sign()')
  })
})
