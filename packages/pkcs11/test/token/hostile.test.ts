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

const say = async (configuration: Record<string, string>, env = {}): Promise<string> => {
  const { status, out, err } = await ask(certificateRequest(configuration), {
    ...hsm.environment,
    ...env,
  })
  expect([status, out]).toEqual([1, ''])
  return err
}

describe.skipIf(!hasSoftHsm)('a library that is none', () => {
  it.each([
    ['missing', '/usr/lib/nothing.so', 'there is no library "/usr/lib/nothing.so"'],
    ['a folder', '/usr/lib', 'is no file'],
    ['text', '/etc/passwd', 'cannot be loaded: invalid ELF header'],
    ['another one', process.execPath, 'the library '],
    ['relative', 'usr/lib/softhsm/libsofthsm2.so', 'pathLib is not absolute'],
  ])('is refused: %s', async (_, pathLib, words) => {
    const err = await say({ pathLib })
    expect(err).toContain(`TokenError: `)
    expect(err).toContain(words)
    expect(err.trim().split('\n')).toHaveLength(2)
  })

  it('is not loaded from /tmp, also through a link', async () => {
    const pathLib = join(hsm.folder, 'lib.so')
    writeFileSync(pathLib, '')
    expect(await say({ pathLib })).toContain(
      `If you trust it, allow it: export KUBECRED_PKCS11_MODULES=${pathLib}`,
    )
    const link = join(hsm.folder, 'link.so')
    symlinkSync(pathLib, link)
    expect(await say({ pathLib: link })).toContain('may not be loaded')
    const allowed = await say({ pathLib: link }, { KUBECRED_PKCS11_MODULES: pathLib })
    expect(allowed).toContain('cannot be loaded: file too short')
  })
})

describe.skipIf(!hasSoftHsm)('without a token', () => {
  it('says so', async () => {
    expect(await say({ pathLib: SOFTHSM })).toContain('the library sees no token')
  })

  it('says which ones there are when several fit', async () => {
    hsm.addToken('one')
    hsm.addToken('two')
    const err = await say({ pathLib: SOFTHSM })
    expect(err).toMatch(
      /2 tokens fit: "\w+" \(serial \w+, slot \d+\), "\w+" \(.*\)\nAdd tokenLabel/,
    )
  })

  it('shows labels that try to steer the terminal as they are', async () => {
    hsm.addToken('evil\u001b[2J')
    const err = await say({ pathLib: SOFTHSM })
    expect(err).not.toContain('\u001b')
  })

  it('knows no configuration of the library: the library says why', async () => {
    const err = await say({ pathLib: SOFTHSM }, { SOFTHSM2_CONF: '/nowhere' })
    expect(err).toMatch(/cannot start the library .*: .* \(CKR_\w+\)/)
  })

  it('has no key that could sign', async () => {
    const configuration = { pathLib: SOFTHSM, tokenLabel: 'one', pin: PIN }
    const signed = askSignature('ecdsa_secp256r1_sha256', configuration, hsm.environment)
    await expect(signed).rejects.toThrow('has no private key')
  })
})

describe('the program', () => {
  it('explains itself when it is run by hand', async () => {
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
    [['list', '-o', 'yaml'], '--output can only be json'],
    [['serve'], 'serve needs --socket PATH'],
    [['list', 'extra'], 'Unexpected argument'],
  ])('says what it does not understand: %j', async (args, words) => {
    const { status, out, err } = await start(args, {}).ended()
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(words)
    expect(err).toContain("Try 'kubecred-pkcs11 --help'")
  })

  it('says its version', async () => {
    expect((await start(['--version'], {}).ended()).out).toMatch(
      /^kubecred-pkcs11 \d+\.\d+\.\d+\n$/,
    )
  })

  it('says what to do without the native module', async () => {
    // A loader that knows no pkcs11js.
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
