import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSoftHsm, NEEDS, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import {
  ask,
  askSignature,
  type Configuration,
  isGoodSignature,
  type Scheme,
  signRequest,
  stay,
} from '../spawn-signer.ts'

let hsm: SoftHsm
const KEYS = [
  { type: 'RSA:2048', id: '01', label: 'rsa' },
  { type: 'EC:prime256v1', id: '02', label: 'p256' },
  { type: 'EC:secp384r1', id: '03', label: 'p384' },
  { type: 'EC:secp521r1', id: '04', label: 'p521' },
  { type: 'EC:edwards25519', id: '05', label: 'ed25519' },
  { type: 'EC:prime256v1', id: '10', label: 'always', alwaysAuthenticate: true },
  { type: 'EC:secp256k1', id: '11', label: 'bitcoin' },
] as const

beforeAll(() => {
  if (!hasSoftHsm) return
  hsm = new SoftHsm()
  hsm.addToken('kube')
  for (const key of KEYS) hsm.addKey('kube', key)
}, 60_000)
afterAll(() => hsm?.[Symbol.dispose]())

const withPin = (more: Configuration): Configuration => ({ pathLib: SOFTHSM, pin: PIN, ...more })
const cases: readonly (readonly [Scheme, string])[] = [
  ['rsa_pss_rsae_sha256', '01'],
  ['rsa_pss_rsae_sha384', '01'],
  ['rsa_pss_rsae_sha512', '01'],
  ['ecdsa_secp256r1_sha256', '02'],
  ['ecdsa_secp384r1_sha384', '03'],
  ['ecdsa_secp521r1_sha512', '04'],
  ['ed25519', '05'],
]

describe.skipIf(!hasSoftHsm)(`a key in a token (${NEEDS})`, () => {
  it.each(cases)('signs %s', async (scheme, id) => {
    const configuration = withPin({ objectIdHex: id })
    const signature = await askSignature(scheme, configuration, hsm.environment)
    expect(isGoodSignature(scheme, hsm.publicKey('kube', id), signature)).toBe(true)
  })

  it('signs again and again in DER, whatever the numbers begin with', async () => {
    const request = signRequest('ecdsa_secp256r1_sha256', withPin({ objectId: '2' }))
    const { next, end } = stay(request, hsm.environment)
    const key = hsm.publicKey('kube', '02')
    for (let count = 0; count < 30; count += 1) {
      const { signature = '' } = await next(request)
      expect(isGoodSignature('ecdsa_secp256r1_sha256', key, signature)).toBe(true)
    }
    expect((await end()).status).toBe(0)
  })

  it.each([
    [
      'of RSA',
      '01',
      'PKCS#1 v1.5 signature of the RSA key in the token, and TLS 1.3 does not allow',
    ],
    ['on another curve', '03', 'the key in the token (P-384) cannot make a signature ecdsa'],
    ['that TLS cannot use', '11', 'the key in the token (of an unknown kind) cannot make'],
  ])('%s is refused', async (_, id, words) => {
    const configuration = withPin({ objectIdHex: id })
    const signed = askSignature('ecdsa_secp256r1_sha256', configuration, hsm.environment)
    await expect(signed).rejects.toThrow(words)
  })

  it("takes Go's automatic length of the salt for that of the hash", async () => {
    const request = signRequest('rsa_pss_rsae_sha256', withPin({ objectIdHex: '01' }))
    const signerOpts = JSON.stringify({ SaltLength: 0, Hash: 5 })
    const { out, err } = await ask({ ...request, signerOpts }, hsm.environment)
    expect(err).toBe('')
    const key = hsm.publicKey('kube', '01')
    expect(isGoodSignature('rsa_pss_rsae_sha256', key, JSON.parse(out).signature)).toBe(true)
  })

  it('that wants the PIN every time gets it, in one process and in many', async () => {
    const { library, environment } = hsm.spied
    const configuration = withPin({ objectIdHex: '10', pathLib: library })
    const request = signRequest('ecdsa_secp256r1_sha256', configuration)
    const key = hsm.publicKey('kube', '10')
    const { next, end } = stay(request, environment)
    const { signature = '' } = await next(request)
    expect(isGoodSignature('ecdsa_secp256r1_sha256', key, signature)).toBe(true)
    await end()
    // Once for the token, and once for each of two signatures.
    expect(hsm.callsOf('C_Login')).toBe(3)
  })

  it('is asked for its PIN once by a signer that stays', async () => {
    const { library, environment } = hsm.spied
    const configuration = withPin({ objectIdHex: '02', pathLib: library })
    const request = signRequest('ecdsa_secp256r1_sha256', configuration)
    const { next, end } = stay(request, environment)
    for (let count = 0; count < 5; count += 1) {
      expect(await next(request)).toMatchObject({ kind: 'SignResponse' })
    }
    await end()
    expect(hsm.callsOf('C_Login')).toBe(1)
  })
})

describe.skipIf(!hasSoftHsm)('a token', () => {
  const sign = (configuration: Configuration, environment = hsm.environment): Promise<string> =>
    askSignature(
      'ecdsa_secp256r1_sha256',
      withPin({ objectId: '2', ...configuration }),
      environment,
    )

  it('is found by its slot, label, serial or a URI', async () => {
    const [slotId, tokenSerial] = [hsm.slotOf('kube'), hsm.serialOf('kube')]
    const uri = `pkcs11:token=kube;serial=${tokenSerial};id=%02;type=private`
    for (const configuration of [{ slotId }, { tokenLabel: 'kube' }, { tokenSerial }, { uri }]) {
      expect(await sign(configuration)).toMatch(/^MEQ|^MEU|^MEY|^ME/)
    }
  })

  it('is found by a URI alone', async () => {
    const uri = `pkcs11:token=kube;object=p256?module-path=${SOFTHSM}&pin-value=${PIN}`
    const request = signRequest('ecdsa_secp256r1_sha256', { uri })
    const { status, err } = await ask(request, hsm.environment)
    expect(status).toBe(0)
    expect(err).toMatch(/^warning: the URI in the kubeconfig has a PIN in it/)
    expect(err).not.toContain(PIN)
  })

  it.each([
    [
      { slotId: '0' },
      /no token fits slotId 0; there is "kube" \(serial \w+, slot \d+\)\nSlot numbers change: in place of slotId write tokenLabel: "kube"/,
    ],
    [{ tokenLabel: 'other' }, /no token fits the label "other"; there is "kube"/],
    [{ uri: 'pkcs11:model=YubiKey' }, /no token fits the model "YubiKey"/],
    [
      { objectId: '99' },
      /has no private key with the id 63\nSee which keys there are: kubecred-pkcs11 list --login/,
    ],
    [{ objectLabel: 'p384' }, /has no private key with the id 02 and the label "p384"/],
  ])('is told apart from those that are there: %j', async (configuration, words) => {
    await expect(sign(configuration)).rejects.toThrow(words)
  })
})

describe.skipIf(!hasSoftHsm)('two keys with one id', () => {
  it('are told apart by their label, or not at all', async () => {
    hsm.addToken('twins')
    hsm.addKey('twins', { type: 'EC:prime256v1', id: '02', label: 'one' })
    hsm.addKey('twins', { type: 'EC:prime256v1', id: '02', label: 'two' })
    const configuration = withPin({ tokenLabel: 'twins', objectId: '2' })
    const sign = (more: Configuration): Promise<string> =>
      askSignature('ecdsa_secp256r1_sha256', { ...configuration, ...more }, hsm.environment)
    await expect(sign({})).rejects.toThrow(
      /has 2 private keys with the id 02: 02 "(?:one|two)", 02 "(?:one|two)"\nAdd objectLabel/,
    )
    await sign({ objectLabel: 'one' })
  })
})

describe.skipIf(!hasSoftHsm)('a token that goes away', () => {
  it('is missed, and found again, by a signer that stays', async () => {
    hsm.addToken('moving')
    hsm.addKey('moving', { type: 'EC:prime256v1', id: '02', label: 'key' })
    const configuration = withPin({ tokenLabel: 'moving', objectIdHex: '02' })
    const request = signRequest('ecdsa_secp256r1_sha256', configuration)
    const { next, end } = stay(request, hsm.environment)
    expect(await next(request)).toMatchObject({ kind: 'SignResponse' })
    hsm.run('softhsm2-util', ['--delete-token', '--token', 'moving'])
    const { kind, message } = await next(request)
    expect([kind, message]).toEqual(['SignerError', expect.stringContaining('no token fits')])
    hsm.addToken('moving')
    hsm.addKey('moving', { type: 'EC:prime256v1', id: '02', label: 'key' })
    expect(await next(request)).toMatchObject({ kind: 'SignResponse' })
    await end()
  })
})
