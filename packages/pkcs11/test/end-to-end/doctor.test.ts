import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runFake } from '../../../cli/test/run-fake.ts'
import { hasSoftHsm, NEEDS, PIN, SOFTHSM } from '../soft-token.ts'
import { TokenScene } from './token-scene.ts'

let scene: TokenScene
beforeAll(async () => {
  if (!hasSoftHsm) return
  scene = await TokenScene.open()
  await scene.addKey({ type: 'EC:prime256v1', id: '02' }, 'jane')
}, 60_000)
afterAll(() => scene?.[Symbol.asyncDispose]())

async function examine(config: Readonly<Record<string, string>>, pin = PIN) {
  scene.signer.asked()
  const all = { pathLib: SOFTHSM, objectIdHex: '02', ...config }
  const argv = ['doctor', '-o', 'json', '--kubeconfig', scene.writeKubeconfig(all)]
  const env = { ...scene.hsm.environment, KUBECRED_PKCS11_PIN: pin }
  const { out, status } = await runFake(argv, { env })
  const { findings } = JSON.parse(out) as { findings: { step: string }[] }
  return { status, found: Object.fromEntries(findings.map((each) => [each.step, each])) }
}

describe.skipIf(!hasSoftHsm)(`kubecred doctor with a token (${NEEDS})`, () => {
  it('reports a working setup with the user name', async () => {
    const { status, found } = await examine({})
    expect(found).toMatchObject({
      method: { summary: expect.stringContaining('external signer') },
      plugin: { verdict: 'ok' },
      credential: { verdict: 'ok' },
      identity: { verdict: 'ok', summary: 'jane' },
    })
    expect(status).toBe(0)
    expect(scene.signer.asked()).toEqual(['CertificateRequest', 'SignRequest'])
  })

  it.each([
    [
      'token',
      { tokenLabel: 'in-the-drawer' },
      /no token matches the label "in-the-drawer"; found "kube" \(.*\)$/,
      'Correct tokenLabel or tokenSerial, or plug in the right device',
    ],
    [
      'key',
      { objectIdHex: '77' },
      /has no private key with the id 77$/,
      'List the keys: kubecred-pkcs11 list --login',
    ],
    [
      'library',
      { pathLib: '/usr/lib/missing.so' },
      /the library "\/usr\/lib\/missing.so" does not exist$/,
      'Correct pathLib, or install the library',
    ],
  ])('has a hint if the %s is missing', async (_, config, summary, remedy) => {
    const { status, found } = await examine(config)
    expect(found['credential']).toMatchObject({
      verdict: 'error',
      code: 'ERR_SIGNER_FAILED',
      summary: expect.stringMatching(summary),
      remedy: expect.stringContaining(remedy),
    })
    expect(found['identity']).toMatchObject({ verdict: 'skipped' })
    expect(status).not.toBe(0)
    expect(scene.signer.asked()).toEqual(['CertificateRequest'])
  })

  it('reports a wrong PIN in the identity step, and tries it once', async () => {
    const { found } = await examine({}, '654321')
    expect(found['credential']).toMatchObject({ verdict: 'ok' })
    expect(found['identity']).toMatchObject({
      verdict: 'error',
      summary: expect.stringContaining('the PIN is wrong'),
    })
    expect(JSON.stringify(found)).not.toContain('654321')
    expect(scene.signer.asked()).toEqual(['CertificateRequest', 'SignRequest'])
  })
})
