import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'kubecred'
import { expect, it } from 'vitest'

it('an unquoted signer parameter is reported by name, and only for the selected user', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-unquoted-'))
  const kubeconfig = join(folder, 'config')
  writeFileSync(
    kubeconfig,
    `users:
- { name: v, user: { token: t } }
- name: u
  user:
    auth-provider:
      name: externalSigner
      config: { pathExec: /bin/true, slotId: 0 }
clusters: [{ name: k, cluster: { server: 'https://127.0.0.1:1' } }]
contexts:
- { name: c, context: { cluster: k, user: u } }
- { name: d, context: { cluster: k, user: v } }
current-context: c
`,
  )
  try {
    await expect(connect({ kubeconfig })).rejects.toMatchObject({
      code: 'ERR_SIGNER_CONFIG',
      message: expect.stringContaining('slotId'),
      hint: expect.stringContaining('quotes'),
    })
    // The others in the file have nothing to do with it.
    await using other = await connect({ kubeconfig, context: 'd' })
    expect(other.status()).toMatchObject({ user: 'v' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
