import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseYaml } from '../../../core/src/formats/yaml.ts'
import { hasSoftHsm, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import {
  askCertificate,
  askSignature,
  type Configuration,
  PROGRAM,
  start,
} from '../spawn-signer.ts'

let hsm: SoftHsm
beforeAll(() => {
  if (!hasSoftHsm) return
  hsm = new SoftHsm()
  hsm.addToken('kube')
  hsm.addKey('kube', { type: 'EC:prime256v1', id: '02', label: 'work' })
  hsm.addCertificate('kube', '02', { label: 'work certificate', days: 45 })
  hsm.addKey('kube', { type: 'RSA:2048', id: '03', label: 'old' })
  hsm.addCertificate('kube', '03', { label: 'old', subject: '/CN=old', days: -1 })
  hsm.addKey('kube', { type: 'EC:secp384r1', id: '04', label: 'mixed up' })
  hsm.addCertificate('kube', '04', { label: 'mixed up', subject: '/CN=other', forId: '02' })
  hsm.addKey('kube', { type: 'EC:secp256k1', id: '05', label: 'coin' })
}, 60_000)
afterAll(() => hsm?.[Symbol.dispose]())

const list = async (...args: string[]): Promise<string> => {
  const { status, out, err } = await start(['list', ...args], hsm.environment).ended()
  expect(err).toBe('')
  expect(status).toBe(0)
  return out
}

interface Pasted {
  readonly users: readonly [{ readonly user: { 'auth-provider': { config: Configuration } } }]
}

/** Replaces what differs from run to run. */
const steady = (text: string): string =>
  text
    .replaceAll(PROGRAM, '/usr/bin/kubecred-pkcs11')
    .replace(/serial \w+, slot \d+/g, 'serial SERIAL, slot SLOT')
    .replace(/\d{4}-\d{2}-\d{2}/g, 'DATE')

const GOLDEN = `/usr/lib/softhsm/libsofthsm2.so
  SoftHSM, Implementation of PKCS11

  token "kube"
    serial SERIAL, slot SLOT, SoftHSM v2
    PIN: needed

    id 02  "work", "work certificate"
      key          P-256 (public key only; use --login to list the private key)
      certificate  CN=jane, O=dev; until DATE (44 days)
      match        yes

      users:
        - name: "jane"
          user:
            auth-provider:
              name: externalSigner
              config:
                pathExec: "/usr/bin/kubecred-pkcs11"
                pathLib: "/usr/lib/softhsm/libsofthsm2.so"
                tokenLabel: "kube"
                objectIdHex: "02"

    id 03  "old"
      key          RSA (public key only; use --login to list the private key)
      certificate  CN=old; EXPIRED on DATE
      match        yes

    id 04  "mixed up"
      key          P-384 (public key only; use --login to list the private key)
      certificate  CN=other; until DATE (29 days)
      match        NO: the certificate belongs to another key

    id 05  "coin"
      key          not usable for TLS (public key only; use --login to list the private key)
      certificate  none; store one with the id of the key
`

describe.skipIf(!hasSoftHsm)('list', () => {
  it('shows tokens, keys, certificates and user entries', async () => {
    expect(steady(await list('--lib', SOFTHSM))).toBe(GOLDEN)
  })

  it('shows user entries that work in a kubeconfig', async () => {
    const out = await list('--lib', SOFTHSM)
    const [stanza = ''] = /^ {6}users:\n(?: {8}.*\n)+/m.exec(out) ?? []
    const { users } = parseYaml(stanza) as Pasted
    const { config } = users[0].user['auth-provider']
    expect((await askCertificate(config, hsm.environment)).subject).toBe('CN=jane\nO=dev')
    await askSignature('ecdsa_secp256r1_sha256', { ...config, pin: PIN }, hsm.environment)
  })

  it('prints JSON with -o json', async () => {
    const { libraries } = JSON.parse(await list('--lib', SOFTHSM, '-o', 'json'))
    const [{ library, tokens }] = libraries
    expect(library).toBe(SOFTHSM)
    expect(tokens).toMatchObject([
      {
        label: 'kube',
        serial: hsm.serialOf('kube'),
        slotId: hsm.slotOf('kube'),
        pin: 'needed',
        entries: [
          {
            id: '02',
            labels: ['work', 'work certificate'],
            key: { kind: 'P-256', isPrivateSeen: false },
            certificate: { subject: 'CN=jane, O=dev', issuer: 'CN=test-ca', isExpired: false },
            isMatch: true,
            config: { pathLib: SOFTHSM, tokenLabel: 'kube', objectIdHex: '02' },
          },
          { id: '03', certificate: { isExpired: true } },
          { id: '04', isMatch: false },
          { id: '05', key: { isPrivateSeen: false } },
        ],
      },
    ])
  })

  it('shows the private keys with a PIN from the environment', async () => {
    const env = { ...hsm.environment, KUBECRED_PKCS11_PIN: PIN }
    const { out } = await start(['list', '--lib', SOFTHSM, '--login'], env).ended()
    expect(out).toContain('      key          P-256\n')
  })

  it('shows public objects after a wrong PIN', async () => {
    const env = { ...hsm.environment, KUBECRED_PKCS11_PIN: '654321' }
    const { out, status } = await start(['list', '--lib', SOFTHSM, '--login'], env).ended()
    expect(status).toBe(0)
    expect(out).toContain('the PIN is wrong (CKR_PIN_INCORRECT)')
    expect(out).toContain('id 02  "work"')
    expect(out).not.toContain('654321')
  })

  it('lists all installed libraries, even if one of them crashes', async () => {
    const { library, environment } = hsm.spied
    // The spy fails without a library to wrap; the others must be listed anyway.
    const env = { ...environment, PKCS11SPY: '/nowhere', KUBECRED_PKCS11_MODULES: library }
    const { status, out } = await start(['list', '-o', 'json'], env).ended()
    expect(status).toBe(0)
    const { libraries } = JSON.parse(out) as {
      libraries: { library: string; problem?: string; tokens: { label: string }[] }[]
    }
    const softhsm = libraries.find((each) => each.library.endsWith('libsofthsm2.so'))
    expect(softhsm?.tokens.map(({ label }) => label)).toContain('kube')
    const spy = libraries.find((each) => each.library === library)
    expect(spy?.problem).toMatch(/^(?:cannot|the library)/)
  })

  it('fails with the reason if the library of --lib cannot be loaded', async () => {
    const { status, out, err } = await start(['list', '--lib', '/etc/passwd'], {}).ended()
    expect([status, out]).toEqual([1, ''])
    expect(err).toContain('kubecred-pkcs11: the library /etc/passwd cannot be loaded')
  })
})
