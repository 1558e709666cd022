import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSoftHsm, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import { ask, askSignature, type Configuration, signRequest, startKept } from '../spawn-signer.ts'

let hsm: SoftHsm
beforeAll(() => {
  if (!hasSoftHsm) return
  hsm = new SoftHsm()
  hsm.addToken('kube')
  hsm.addKey('kube', { type: 'EC:prime256v1', id: '02', label: 'p256' })
}, 60_000)
afterAll(() => hsm?.[Symbol.dispose]())

describe.skipIf(!hasSoftHsm)('a PIN', () => {
  const secret = { pathLib: SOFTHSM, objectId: '2' }
  const sign = (configuration: Configuration, env = {}): Promise<string> =>
    askSignature(
      'ecdsa_secp256r1_sha256',
      { ...secret, ...configuration },
      { ...hsm.environment, ...env },
    )

  it('is read from the environment', async () => {
    await sign({}, { KUBECRED_PKCS11_PIN: PIN })
    await sign({ pinEnv: 'KUBECRED_PKCS11_PIN_KUBE' }, { KUBECRED_PKCS11_PIN_KUBE: PIN })
  })

  it.each(['PIN', 'HOME', 'KUBECRED_PKCS11_PI', 'KUBECRED_PKCS11_PIN=x'])(
    'is not read from the variable %s',
    async (pinEnv) => {
      await expect(sign({ pinEnv }, { [pinEnv]: PIN })).rejects.toThrow(
        'pinEnv names a variable that does not begin with KUBECRED_PKCS11_PIN',
      )
    },
  )

  it('is read from a file, with or without a trailing line break', async () => {
    const pinFile = join(hsm.folder, 'pin')
    for (const text of [PIN, `${PIN}\n`, `${PIN}\r\n`]) {
      writeFileSync(pinFile, text, { mode: 0o600 })
      await sign({ pinFile })
      await sign({ uri: `pkcs11:?pin-source=file:${pinFile}` })
    }
  })

  it('is not read from a file that is accessible to others, not regular, empty or too long', async () => {
    const pinFile = join(hsm.folder, 'open-pin')
    writeFileSync(pinFile, PIN)
    chmodSync(pinFile, 0o640)
    await expect(sign({ pinFile })).rejects.toThrow('is accessible to other users')
    const folder = join(hsm.folder, 'a-folder')
    mkdirSync(folder, { recursive: true })
    await expect(sign({ pinFile: folder })).rejects.toThrow('is not a regular file')
    await expect(sign({ pinFile: '/dev/zero' })).rejects.toThrow('is not a regular file')
    await expect(sign({ pinFile: join(hsm.folder, 'none') })).rejects.toThrow('ENOENT')
    await expect(sign({ pinFile: 'pin' })).rejects.toThrow('is not an absolute path')
    writeFileSync(pinFile, '\n')
    chmodSync(pinFile, 0o600)
    await expect(sign({ pinFile })).rejects.toThrow('is empty')
    writeFileSync(pinFile, 'x'.repeat(5000))
    await expect(sign({ pinFile })).rejects.toThrow('is too long')
    await expect(sign({ uri: 'pkcs11:?pin-source=|cat%20/etc/passwd' })).rejects.toThrow(
      'pin-source of the uri is not a file',
    )
  })

  it('is asked for if it is not stored, which fails without a terminal', async () => {
    await expect(sign({})).rejects.toThrow(
      /cannot prompt: there is no terminal\n.*KUBECRED_PKCS11_PIN.*pinFile/s,
    )
  })

  it.each([
    ['empty', ''],
    ['too short', '123'],
    ['too long', 'x'.repeat(256)],
  ])('does not cost a try if it is %s', async (_, pin) => {
    const { library, environment } = hsm.spied
    await expect(sign({ pin, pathLib: library }, environment)).rejects.toThrow(/PIN/)
    expect(hsm.callsOf('C_Login')).toBe(0)
    expect(hsm.isPinCountLow('kube')).toBe(false)
  })

  it('may contain blanks and non-ASCII letters', async () => {
    const odd = ' pä ss✓ '
    hsm.addToken('odd', odd)
    hsm.addKey('odd', { type: 'EC:prime256v1', id: '02', label: 'p256' }, odd)
    await sign({ tokenLabel: 'odd', pin: odd })
    const pinFile = join(hsm.folder, 'odd-pin')
    writeFileSync(pinFile, odd, { mode: 0o600 })
    await sign({ tokenLabel: 'odd', pinFile })
    hsm.run('softhsm2-util', ['--delete-token', '--token', 'odd'])
  })
})

describe.skipIf(!hasSoftHsm)('a wrong PIN', () => {
  const wrong = '654321'

  it('is tried once and not shown, and the error warns that the token may lock', async () => {
    const { library, environment } = hsm.spied
    const configuration = { pathLib: library, objectId: '2', pin: wrong }
    const { status, out, err } = await ask(
      signRequest('ecdsa_secp256r1_sha256', configuration),
      environment,
    )
    expect([status, out]).toEqual([1, ''])
    expect(err).toMatch(
      /^TokenError: cannot log in to token "kube" \(.*\): the PIN is wrong \(CKR_PIN_INCORRECT\)\n.*the token locks/,
    )
    expect(err).not.toContain(wrong)
    expect(hsm.callsOf('C_Login')).toBe(1)
    expect(hsm.isPinCountLow('kube')).toBe(true)
    await askSignature('ecdsa_secp256r1_sha256', { ...configuration, pin: PIN }, environment)
    expect(hsm.isPinCountLow('kube')).toBe(false)
  })

  it('is tried once by a signer that is kept running if it is stored, however many requests follow', async () => {
    const { library, environment } = hsm.spied
    hsm.callsOf('C_Login')
    const configuration = { pathLib: library, objectIdHex: '02', pin: wrong }
    const request = signRequest('ecdsa_secp256r1_sha256', configuration)
    const { next, end, signer } = startKept(request, environment)
    const { kind, message } = await next(request)
    expect(kind).toBe('SignerError')
    expect(message).toContain(
      'the PIN from the kubeconfig was rejected before and is not tried again',
    )
    await next(request)
    expect(signer.out).not.toContain(wrong)
    await end()
    expect(hsm.callsOf('C_Login')).toBe(1)
    await askSignature('ecdsa_secp256r1_sha256', { ...configuration, pin: PIN }, environment)
  })
})
