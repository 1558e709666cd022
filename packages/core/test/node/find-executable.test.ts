import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findExecutable } from '../../src/node/node-programs.ts'

let folder = ''
const cwd = process.cwd()
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'kubecred-find-')))
})
afterEach(() => {
  process.chdir(cwd)
  rmSync(folder, { recursive: true, force: true })
})

function put(name: string, mode = 0o755): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, mode)
  return path
}

const at = (...names: string[]): string => names.map((name) => join(folder, name)).join(':')

describe('a bare name', () => {
  it('is found in the first folder of PATH that has it', async () => {
    put('b/plugin')
    put('c/plugin')
    const found = await findExecutable('plugin', { path: at('a', 'b', 'c') })
    expect(found).toEqual({ is: 'found', path: at('b/plugin'), realPath: at('b/plugin') })
  })

  it('is found in extra folders before PATH', async () => {
    put('a/plugin')
    put('extra/plugin')
    const lookup = { path: at('a'), extraFolders: [at('extra')] }
    expect(await findExecutable('plugin', lookup)).toMatchObject({ path: at('extra/plugin') })
  })

  it.each(['.', '', './', 'bin', '../x/bin'])(
    'is not found through the relative folder "%s", not even as an extra one',
    async (element) => {
      put('x/plugin')
      put('x/bin/plugin')
      process.chdir(at('x'))
      const lookup = { path: `${element}:${at('a')}:${element}`, extraFolders: [element] }
      const found = await findExecutable('plugin', lookup)
      expect(found).toEqual({ is: 'missing', lookedIn: [at('a')] })
    },
  )

  it.each([undefined, ''])('is missing everywhere when PATH is %o', async (path) => {
    put('plugin')
    process.chdir(folder)
    expect(await findExecutable('plugin', { path })).toEqual({ is: 'missing', lookedIn: [] })
  })

  it('skips files that are not executable', async () => {
    put('a/plugin', 0o644)
    mkdirSync(at('b/plugin'), { recursive: true })
    put('c/plugin')
    const found = await findExecutable('plugin', { path: at('a', 'b', 'c') })
    expect(found).toMatchObject({ is: 'found', path: at('c/plugin') })
  })

  it('is reported as unusable if no executable file is found', async () => {
    put('a/plugin', 0o644)
    const found = await findExecutable('plugin', { path: at('a', 'b') })
    expect(found).toMatchObject({ is: 'unusable', path: at('a/plugin') })
  })

  it('that is empty is missing', async () => {
    expect(await findExecutable('', { path: at('a') })).toMatchObject({ is: 'missing' })
  })

  it('that is missing lists each folder of PATH once', async () => {
    const found = await findExecutable('plugin', { path: at('a', 'b', 'a') })
    expect(found).toEqual({ is: 'missing', lookedIn: [at('a'), at('b')] })
  })
})

describe('a path', () => {
  it('is used as it is, without PATH', async () => {
    put('bin/plugin')
    put('trap/bin/plugin')
    process.chdir(folder)
    const found = await findExecutable('bin/plugin', { path: at('trap') })
    expect(found).toMatchObject({ is: 'found', path: at('bin/plugin') })
  })

  it('is kept, and its real path is reported too', async () => {
    put('real/program')
    symlinkSync(at('real/program'), at('plugin'))
    const found = await findExecutable(at('plugin'), { path: '' })
    expect(found).toEqual({ is: 'found', path: at('plugin'), realPath: at('real/program') })
  })

  it.each<[string, () => void, string]>([
    ['a folder', () => mkdirSync(at('plugin')), 'it is a folder'],
    ['a device', () => symlinkSync('/dev/null', at('plugin')), 'it is not a regular file'],
    ['a loop', () => symlinkSync('plugin', at('plugin')), 'its symbolic links form a loop'],
    ['not executable', () => put('plugin', 0o644), 'permission denied, it may not be executed'],
  ])('is unusable when it is %s', async (_, make, reason) => {
    make()
    const found = await findExecutable(at('plugin'), { path: '' })
    expect(found).toEqual({ is: 'unusable', path: at('plugin'), reason })
  })

  it('is unusable when its name is too long or has a NUL byte', async () => {
    const long = await findExecutable(at('x'.repeat(300)), { path: '' })
    expect(long).toMatchObject({ is: 'unusable', reason: 'its name is too long' })
    expect(await findExecutable(at('a\0b'), { path: '' })).toMatchObject({ is: 'unusable' })
  })

  it.each(['nothing', 'plugin/below'])('is missing at %s', async (name) => {
    put('plugin')
    const found = await findExecutable(at(name), { path: '' })
    expect(found).toEqual({ is: 'missing', lookedIn: [dirname(at(name))] })
  })
})

describe.runIf(process.platform !== 'win32')(
  'a program that other users can replace is reported',
  () => {
    const find = () => findExecutable(at('bin/plugin'), { path: '' })

    it.each([
      [0o755, 0o755, undefined],
      [0o775, 0o775, undefined],
      [0o755, 0o1777, undefined],
      [0o757, 0o755, /can be changed by every user/],
      [0o755, 0o777, /can be replaced by every user/],
    ])('file mode %o, folder mode %o', async (file, parent, said) => {
      put('bin/plugin', file)
      chmodSync(at('bin'), parent)
      const found = await find()
      if (said === undefined) expect(found).not.toHaveProperty('writableByOthers')
      else expect(found).toMatchObject({ writableByOthers: expect.stringMatching(said) })
    })

    it.each([
      ['real', 'the folder of the target of a link'],
      ['bin', 'the folder of a link'],
    ])('%s: %s', async (open) => {
      put('real/program')
      mkdirSync(at('bin'))
      symlinkSync(at('real/program'), at('bin/plugin'))
      expect(await find()).not.toHaveProperty('writableByOthers')
      chmodSync(at(open), 0o777)
      expect(await find()).toMatchObject({ writableByOthers: expect.stringContaining(at(open)) })
    })
  },
)
