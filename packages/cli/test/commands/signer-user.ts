import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from '@kubecred/sandbox'
import { SignerFixture } from '../../../core/test/fixtures/signer-fixture.ts'

/** A signer with a key that the sandbox accepts as jane's. */
export async function makeSigner(sandbox: Sandbox): Promise<SignerFixture> {
  return new SignerFixture(await sandbox.issueCertificate({ user: 'jane', groups: ['dev'] }))
}

/** Writes a kubeconfig whose user is authenticated by a signer. Returns its path. */
export function writeSignerConfig(
  sandbox: Pick<Sandbox, 'url' | 'caPem'>,
  { folder, program }: SignerFixture,
  more: Readonly<Record<string, string>> = {},
): string {
  const path = join(folder, 'kubeconfig')
  const cluster = {
    server: sandbox.url,
    'certificate-authority-data': Buffer.from(sandbox.caPem).toString('base64'),
  }
  const config = { pathExec: program, folder, stays: 'yes', pin: 'marked-pin', ...more }
  const user = { 'auth-provider': { name: 'externalSigner', config } }
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'k', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      'current-context': 'c',
    }),
  )
  return path
}
