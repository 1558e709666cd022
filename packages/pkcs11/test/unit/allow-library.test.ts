import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { allowLibrary } from '../../src/allow-library.ts'
import { p11KitModules } from '../../src/p11-kit-modules.ts'
import { isSystemPath } from '../../src/system-path.ts'
import { TokenError } from '../../src/token-error.ts'

/** A file that only root can write, on every system. */
const SYSTEM_FILE = process.execPath.startsWith('/usr/') ? process.execPath : '/etc/passwd'
let folder: string
let library: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-library-'))
  library = join(folder, 'my lib.so')
  writeFileSync(library, '')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a library', () => {
  it('may be loaded from where only root can write', () => {
    expect(isSystemPath('/etc/passwd')).toBe(true)
    expect(allowLibrary('/etc/passwd', {})).toBe('/etc/passwd')
  })

  it('may not be loaded from anywhere else, and the hint has the line that allows it', () => {
    expect(() => allowLibrary(library, {})).toThrow(
      expect.objectContaining({
        message: `the library ${library} is not allowed`,
        hint: `If you trust it, allow it: export KUBECRED_PKCS11_MODULES='${library}'`,
      }),
    )
  })

  it('may be loaded if the user names it in the environment', () => {
    const environment = { KUBECRED_PKCS11_MODULES: `/nowhere:${library}` }
    expect(allowLibrary(library, environment)).toBe(library)
  })

  it.each(['relative/my lib.so', 'my lib.so', '/', ''])(
    'is not allowed by KUBECRED_PKCS11_MODULES=%j',
    (named) => {
      expect(() => allowLibrary(library, { KUBECRED_PKCS11_MODULES: named })).toThrow(
        'is not allowed',
      )
    },
  )

  it('is judged by its path after links are resolved', () => {
    const link = join(folder, 'link.so')
    symlinkSync(SYSTEM_FILE, link)
    expect(allowLibrary(link, {})).not.toBe(link)
    const into = join(folder, 'into.so')
    symlinkSync(library, into)
    expect(() => allowLibrary(into, {})).toThrow(`(${library}) is not allowed`)
    expect(allowLibrary(into, { KUBECRED_PKCS11_MODULES: into })).toBe(library)
  })

  it.each([0o775, 0o757])(
    'is not a system library in a folder that others can write (%o)',
    (mode) => {
      const open = join(folder, 'open')
      mkdirSync(open)
      chmodSync(open, mode)
      copyFileSync(library, join(open, 'lib.so'))
      expect(isSystemPath(join(open, 'lib.so'))).toBe(false)
    },
  )

  it.each([
    ['dots', () => `/usr/lib/../..${library}`],
    ['repeated slashes', () => `//${library.replaceAll('/', '//')}`],
    ['a folder that is a link', () => join(linkTo(folder), 'my lib.so')],
    ['a chain of links', () => linkTo(linkTo(library))],
  ])('is not hidden by %s', (_, path) => {
    expect(() => allowLibrary(path(), {})).toThrow('is not allowed')
  })

  it
    .runIf(process.platform === 'linux')
    .each([() => `/proc/self/root${library}`, () => `/proc/${process.pid}/root${library}`])(
    'is not hidden by /proc',
    (path) => {
      expect(() => allowLibrary(path(), {})).toThrow('is not allowed')
    },
  )

  it.each([
    ['with a null byte', '/etc/passwd\0'],
    ['of a null byte', '\0'],
    ['that is too long', '/x'.repeat(3000)],
    ['that is empty', ''],
  ])('has no path %s', (_, path) => {
    expect(() => allowLibrary(path, {})).toThrow(TokenError)
  })

  it('is not a link to itself', () => {
    const loop = join(folder, 'loop.so')
    symlinkSync(loop, loop)
    expect(() => allowLibrary(loop, {})).toThrow('does not exist')
  })

  it('is not allowed by a link to it that the user names and another person has turned', () => {
    const named = join(folder, 'named.so')
    symlinkSync(SYSTEM_FILE, named)
    const environment = { KUBECRED_PKCS11_MODULES: named }
    expect(() => allowLibrary(library, environment)).toThrow('is not allowed')
  })

  it('has a hint that a shell does not run', () => {
    const odd = join(folder, "$(reboot)'`x`.so")
    writeFileSync(odd, '')
    const hint = hintOf(() => allowLibrary(odd, {}))
    const script = `${hint.slice(hint.indexOf('export '))}; printf %s "$KUBECRED_PKCS11_MODULES"`
    expect(spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout).toBe(odd)
  })

  it('must exist and be a file', () => {
    expect(() => allowLibrary(join(folder, 'none.so'), {})).toThrow('does not exist')
    expect(() => allowLibrary('/etc', {})).toThrow('is not a file')
  })
})

let links = 0

function linkTo(path: string): string {
  links += 1
  const link = join(folder, `link-${links}`)
  symlinkSync(path, link)
  return link
}

function hintOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    return (error as TokenError).hint ?? ''
  }
  throw new Error('nothing was thrown')
}

describe('p11-kit', () => {
  it('is trusted only in folders that belong to root', () => {
    writeFileSync(join(folder, 'evil.module'), `module: ${library}\n`)
    expect(p11KitModules([folder])).toEqual([])
  })
})
