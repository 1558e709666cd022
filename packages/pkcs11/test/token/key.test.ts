import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSoftHsm, NEEDS, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import {
  ask,
  askSignature,
  type Configuration,
  isGoodSignature,
  type Scheme,
  signRequest,
  startKept,
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

  it('returns valid DER for every signature, whatever its integers begin with', async () => {
    const request = signRequest('ecdsa_secp256r1_sha256', withPin({ objectId: '2' }))
    const { next, end } = startKept(request, hsm.environment)
    const key = hsm.publicKey('kube', '02')
    for (let count = 0; count < 30; count += 1) {
      const { signature = '' } = await next(request)
      expect(isGoodSignature('ecdsa_secp256r1_sha256', key, signature)).toBe(true)
    }
    expect((await end()).status).toBe(0)
  })

  it.each([
    [
      'an RSA key',
      '01',
      'PKCS#1 v1.5 signature with the RSA key in the token, which TLS 1.3 does not allow',
    ],
    ['another curve', '03', 'the key in the token (P-384) cannot sign with ecdsa'],
    ['a curve that TLS cannot use', '11', 'the key in the token (unknown type) cannot sign with'],
  ])('is rejected if the signature needs another type: %s', async (_, id, message) => {
    const configuration = withPin({ objectIdHex: id })
    const signed = askSignature('ecdsa_secp256r1_sha256', configuration, hsm.environment)
    await expect(signed).rejects.toThrow(message)
  })

  it("uses the length of the hash for Go's automatic salt length", async () => {
    const request = signRequest('rsa_pss_rsae_sha256', withPin({ objectIdHex: '01' }))
    const signerOpts = JSON.stringify({ SaltLength: 0, Hash: 5 })
    const { out, err } = await ask({ ...request, signerOpts }, hsm.environment)
    expect(err).toBe('')
    const key = hsm.publicKey('kube', '01')
    expect(isGoodSignature('rsa_pss_rsae_sha256', key, JSON.parse(out).signature)).toBe(true)
  })

  it('gets the PIN for every signature if it requires that', async () => {
    const { library, environment } = hsm.spied
    const configuration = withPin({ objectIdHex: '10', pathLib: library })
    const request = signRequest('ecdsa_secp256r1_sha256', configuration)
    const key = hsm.publicKey('kube', '10')
    const { next, end } = startKept(request, environment)
    const { signature = '' } = await next(request)
    expect(isGoodSignature('ecdsa_secp256r1_sha256', key, signature)).toBe(true)
    await end()
    // One login to the token, and one for each of two signatures.
    expect(hsm.callsOf('C_Login')).toBe(3)
  })

  it('needs its PIN once in a signer that is kept running', async () => {
    const { library, environment } = hsm.spied
    const configuration = withPin({ objectIdHex: '02', pathLib: library })
    const request = signRequest('ecdsa_secp256r1_sha256', configuration)
    const { next, end } = startKept(request, environment)
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
    expect(err).toMatch(/^warning: the uri in the kubeconfig contains a PIN/)
    expect(err).not.toContain(PIN)
  })

  it.each([
    [
      { slotId: '0' },
      /no token matches slotId 0; found "kube" \(serial \w+, slot \d+\)\nSlot numbers change: replace slotId by tokenLabel: "kube"/,
    ],
    [{ tokenLabel: 'other' }, /no token matches the label "other"; found "kube"/],
    [{ uri: 'pkcs11:model=YubiKey' }, /no token matches the model "YubiKey"/],
    [
      { objectId: '99' },
      /has no private key with the id 63\nList the keys: kubecred-pkcs11 list --login/,
    ],
    [{ objectLabel: 'p384' }, /has no private key with the id 02 and the label "p384"/],
  ])('is reported as missing, with those that were found: %j', async (configuration, message) => {
    await expect(sign(configuration)).rejects.toThrow(message)
  })
})

describe.skipIf(!hasSoftHsm)('two keys with one id', () => {
  it('are ambiguous without a label', async () => {
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

describe.skipIf(!hasSoftHsm)('a token that is removed', () => {
  it('is reported, and found again once it is back, by a signer that is kept running', async () => {
    hsm.addToken('moving')
    hsm.addKey('moving', { type: 'EC:prime256v1', id: '02', label: 'key' })
    const configuration = withPin({ tokenLabel: 'moving', objectIdHex: '02' })
    const request = signRequest('ecdsa_secp256r1_sha256', configuration)
    const { next, end } = startKept(request, hsm.environment)
    expect(await next(request)).toMatchObject({ kind: 'SignResponse' })
    hsm.run('softhsm2-util', ['--delete-token', '--token', 'moving'])
    const { kind, message } = await next(request)
    expect([kind, message]).toEqual(['SignerError', expect.stringContaining('no token matches')])
    hsm.addToken('moving')
    hsm.addKey('moving', { type: 'EC:prime256v1', id: '02', label: 'key' })
    expect(await next(request)).toMatchObject({ kind: 'SignResponse' })
    await end()
  })
})
