import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSoftHsm, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import { ask, askSignature, certificateRequest, start } from '../spawn-signer.ts'

let hsm: SoftHsm
beforeAll(() => {
  if (!hasSoftHsm) return
  hsm = new SoftHsm()
}, 60_000)
afterAll(() => hsm?.[Symbol.dispose]())

const failureOf = async (configuration: Record<string, string>, env = {}): Promise<string> => {
  const { status, out, err } = await ask(certificateRequest(configuration), {
    ...hsm.environment,
    ...env,
  })
  expect([status, out]).toEqual([1, ''])
  return err
}

describe.skipIf(!hasSoftHsm)('an invalid library', () => {
  it.each([
    ['missing', '/usr/lib/nothing.so', 'the library "/usr/lib/nothing.so" does not exist'],
    ['a folder', '/usr/lib', 'is not a file'],
    ['text', '/etc/passwd', 'cannot be loaded: invalid ELF header'],
    ['not a library', process.execPath, 'the library '],
    ['relative', 'usr/lib/softhsm/libsofthsm2.so', 'pathLib is not absolute'],
  ])('is rejected: %s', async (_, pathLib, message) => {
    const err = await failureOf({ pathLib })
    expect(err).toContain(`TokenError: `)
    expect(err).toContain(message)
    expect(err.trim().split('\n')).toHaveLength(2)
  })

  it('is not loaded from /tmp, not even through a link', async () => {
    const pathLib = join(hsm.folder, 'lib.so')
    writeFileSync(pathLib, '')
    expect(await failureOf({ pathLib })).toContain(
      `If you trust it, allow it: export KUBECRED_PKCS11_MODULES=${pathLib}`,
    )
    const link = join(hsm.folder, 'link.so')
    symlinkSync(pathLib, link)
    expect(await failureOf({ pathLib: link })).toContain('is not allowed')
    const allowed = await failureOf({ pathLib: link }, { KUBECRED_PKCS11_MODULES: pathLib })
    expect(allowed).toContain('cannot be loaded: file too short')
  })
})

describe.skipIf(!hasSoftHsm)('the error', () => {
  it('says that there is no token', async () => {
    expect(await failureOf({ pathLib: SOFTHSM })).toContain('the library finds no token')
  })

  it('lists the tokens if several match', async () => {
    hsm.addToken('one')
    hsm.addToken('two')
    const err = await failureOf({ pathLib: SOFTHSM })
    expect(err).toMatch(
      /2 tokens match: "\w+" \(serial \w+, slot \d+\), "\w+" \(.*\)\nAdd tokenLabel/,
    )
  })

  it('escapes control characters in labels', async () => {
    hsm.addToken('evil\u001b[2J')
    const err = await failureOf({ pathLib: SOFTHSM })
    expect(err).not.toContain('\u001b')
  })

  it('has the reason if the library cannot be initialised', async () => {
    const err = await failureOf({ pathLib: SOFTHSM }, { SOFTHSM2_CONF: '/nowhere' })
    expect(err).toMatch(/cannot initialise the library .*: .* \(CKR_\w+\)/)
  })

  it('says that the token has no private key', async () => {
    const configuration = { pathLib: SOFTHSM, tokenLabel: 'one', pin: PIN }
    const signed = askSignature('ecdsa_secp256r1_sha256', configuration, hsm.environment)
    await expect(signed).rejects.toThrow('has no private key')
  })
})

describe('the program', () => {
  it('explains what it is if it is started without a request', async () => {
    const env = { EXTERNAL_SIGNER_PLUGIN_CONFIG: undefined }
    const { status, out, err } = await start([], env).ended()
    expect([status, out]).toEqual([2, ''])
    expect(err).toMatch(
      /^This is a signer; a Kubernetes client starts it\.\n.*kubecred-pkcs11 list/,
    )
  })

  it.each([
    [['lsit'], 'unknown command "lsit"'],
    [['list', '--bogus'], "Unknown option '--bogus'"],
    [['list', '-o', 'yaml'], '--output must be json'],
    [['serve'], 'serve requires --socket PATH'],
    [['list', 'extra'], 'Unexpected argument'],
  ])('rejects wrong usage: %j', async (args, message) => {
    const { status, out, err } = await start(args, {}).ended()
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(message)
    expect(err).toContain("Try 'kubecred-pkcs11 --help'")
  })

  it('prints its version', async () => {
    expect((await start(['--version'], {}).ended()).out).toMatch(
      /^kubecred-pkcs11 \d+\.\d+\.\d+\n$/,
    )
  })

  it('says how to install the native module if it is missing', async () => {
    // A loader that does not find pkcs11js.
    const hook = `export const resolve = (s, c, n) => s === 'pkcs11js' ? Promise.reject(new Error('Cannot find package')) : n(s, c)`
    const register = `import { register } from 'node:module'; register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hook))})`
    const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(register)}"` }
    const request = certificateRequest({ pathLib: '/etc/passwd' })
    const { status, err } = await ask(request, env)
    expect(status).toBe(1)
    expect(err).toMatch(
      /^TokenError: the native module pkcs11js.* is missing\nInstall a C\+\+ compiler/,
    )
  })
})
