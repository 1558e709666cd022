import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { processProtocol } from '../../src/node/process-registry.ts'
import {
  makePair,
  makeRsaPair,
  makeSelfSigned,
  type TestKeyPair,
} from '../fixtures/make-certificates.ts'
import { isRunning } from '../fixtures/processes.ts'
import { expectNoProcessesLeft, keyOf, SignerFixture, toSign } from '../fixtures/signer-fixture.ts'

const SCHEME = 'ecdsa_secp256r1_sha256'
let pair: TestKeyPair
beforeAll(async () => {
  pair = await makePair()
})
afterEach(expectNoProcessesLeft)

describe('a signer that exits after each answer', () => {
  it('returns its certificate, and is started for every signature', async () => {
    await using scene = new SignerFixture(pair)
    const acquired = await scene.acquire(scene.source())
    expect(acquired.credential.certificate).toMatchObject({
      chain: pair.certificate,
      signingKeyId: 'the signer',
    })
    expect(acquired.expiresAt).toBe(acquired.credential.certificate?.notAfter)
    const key = keyOf(acquired)
    for (const text of ['one', 'two']) {
      expect(scene.isValid(SCHEME, Buffer.from(text), await key.sign(toSign(text)))).toBe(true)
    }
    expect(scene.asked()).toEqual([
      'CertificateRequest by variable',
      'SignRequest by variable',
      'SignRequest by variable',
    ])
    expect(scene.eventsOf('signed').map(({ scheme }) => scheme)).toEqual([SCHEME, SCHEME])
  })

  it('can print its answer over several lines', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ behaviour: 'pretty' })
    expect(scene.isValid(SCHEME, Buffer.from('x'), await key.sign(toSign('x')))).toBe(true)
  })

  it('can return a chain in PEM', async () => {
    const chained = await makePair({ intermediate: true })
    await using scene = new SignerFixture(chained)
    const { credential } = await scene.acquire(scene.source({ chain: 'yes' }))
    expect(credential.certificate?.chain).toBe(chained.certificate)
  })
})

describe('a long-running signer', () => {
  it('gets further requests as lines, and ends with the keeper', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ stays: 'yes' })
    for (const text of ['one', 'two', 'three']) {
      expect(scene.isValid(SCHEME, Buffer.from(text), await key.sign(toSign(text)))).toBe(true)
    }
    const [{ pid } = { pid: 0 }] = scene.log()
    expect(scene.asked()).toEqual([
      'CertificateRequest by variable',
      ...Array(3).fill('SignRequest by line'),
    ])
    expect(processProtocol().counts().slots).toBe(0)
    expect(isRunning(pid)).toBe(true)
    scene.close()
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false))
    expect(scene.log().at(-1)).toMatchObject({ via: 'end' })
    await expect(key.sign(toSign('x'))).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it('is ended after its idle time, and started again for the next request', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ stays: 'yes' }, { limits: { idleMs: 50 } })
    const [{ pid } = { pid: 0 }] = scene.log()
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false))
    await key.sign(toSign('x'))
    expect(scene.asked()).toEqual(['CertificateRequest by variable', 'SignRequest by variable'])
  })

  it('is killed if it does not exit when its input ends', async () => {
    await using scene = new SignerFixture(pair)
    await scene.key({ stays: 'yes', deaf: 'yes' })
    const [{ pid } = { pid: 0 }] = scene.log()
    scene.close()
    await vi.waitFor(() => expect(scene.log().at(-1)).toMatchObject({ via: 'end' }))
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 10_000)
  })

  it('has exclusive use of the device until it has ended', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ stays: 'yes', deaf: 'yes' }, { limits: { idleMs: 50 } })
    const [{ pid } = { pid: 0 }] = scene.log()
    await vi.waitFor(() => expect(scene.log().at(-1)).toMatchObject({ via: 'end' }))
    expect(isRunning(pid)).toBe(true)
    const signature = await key.sign(toSign('x'))
    expect(isRunning(pid)).toBe(false)
    expect(scene.isValid(SCHEME, Buffer.from('x'), signature)).toBe(true)
  })

  it('is started again if it died between two requests', async () => {
    await using scene = new SignerFixture(pair)
    const key = await scene.key({ stays: 'yes' })
    const [{ pid } = { pid: 0 }] = scene.log()
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(scene.eventsOf('plugin-ended')).toHaveLength(1))
    await key.sign(toSign('x'))
    expect(scene.asked()).toEqual(['CertificateRequest by variable', 'SignRequest by variable'])
  })

  it('is restarted with the terminal when the user can be prompted and it was started without', async () => {
    await using scene = new SignerFixture(pair)
    let isTerminal = true
    const ports = { terminal: { isTerminal: () => isTerminal } }
    const source = scene.source({ stays: 'yes' }, { ports })
    const key = keyOf(await scene.acquire(source, { reason: 'ahead' }))
    await key.sign(toSign('x'))
    await key.sign(toSign('x'))
    // A refresh ahead of the expiry asks the running signer, which may be unlocked.
    await scene.acquire(source, { reason: 'ahead' })
    isTerminal = false
    await key.sign(toSign('x'))
    expect(scene.asked()).toEqual([
      'CertificateRequest by variable',
      'SignRequest by variable',
      'SignRequest by line',
      'CertificateRequest by line',
      'SignRequest by line',
    ])
  })
})

describe('a signer with a key', () => {
  const RSA = ['rsa_pss_rsae_sha256', 'rsa_pss_rsae_sha384', 'rsa_pss_rsae_sha512'] as const
  it.each([
    { name: 'RSA', make: () => makeRsaPair(), schemes: RSA },
    {
      name: 'P-384',
      make: () => makeSelfSigned({ name: 'ECDSA', namedCurve: 'P-384' }),
      schemes: ['ecdsa_secp384r1_sha384'] as const,
    },
    {
      name: 'P-521',
      make: () => makeSelfSigned({ name: 'ECDSA', namedCurve: 'P-521' }),
      schemes: ['ecdsa_secp521r1_sha512'] as const,
    },
    {
      name: 'Ed25519',
      make: () => makeSelfSigned({ name: 'Ed25519' }),
      schemes: ['ed25519'] as const,
    },
  ])('of type $name signs with its schemes', async ({ make, schemes }) => {
    await using scene = new SignerFixture(await make())
    const key = await scene.key({ stays: 'yes' })
    const { signal } = new AbortController()
    const everything = ['ecdsa_secp256r1_sha256', ...[...schemes].reverse()] as const
    expect(await key.choose(everything, signal)).toBe(schemes[0])
    expect(await key.choose(['ecdsa_secp256r1_sha256'], signal)).toBeUndefined()
    for (const scheme of schemes) {
      const signature = await key.sign(toSign('hello', scheme))
      expect(scene.isValid(scheme, Buffer.from('hello'), signature)).toBe(true)
    }
  })

  it('must have an RSA key with the protocol of 2020', async () => {
    await using rsa = new SignerFixture(await makeRsaPair())
    const key = await rsa.key({}, { protocol: 'reference2020' })
    const signature = await key.sign(toSign('hello', 'rsa_pss_rsae_sha256'))
    expect(rsa.isValid('rsa_pss_rsae_sha256', Buffer.from('hello'), signature)).toBe(true)
    expect(rsa.asked()).toEqual(['Certificate by variable', 'Sign by variable'])
    await using curve = new SignerFixture(pair)
    await expect(curve.key({}, { protocol: 'reference2020' })).rejects.toMatchObject({
      code: 'ERR_SIGNER_CERTIFICATE',
      message: expect.stringContaining('RSA only'),
    })
  })
})
