import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compileCacheFolder } from '../src/compile-cache.ts'

let home: string
let caches: string
let folder: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubecred-cache-'))
  caches = join(home, '.cache')
  folder = join(caches, 'kubecred')
  mkdirSync(caches, { mode: 0o700 })
})
afterEach(() => rmSync(home, { recursive: true }))

describe.skipIf(process.platform === 'win32')('the folder of the compile cache', () => {
  it('is created for this user only, below the cache folder', () => {
    expect(compileCacheFolder({ HOME: home })).toBe(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(compileCacheFolder({ HOME: home })).toBe(folder)
    expect(compileCacheFolder({ HOME: '/nonexistent', XDG_CACHE_HOME: caches })).toBe(folder)
  })

  it.each([
    { name: 'other users can write to it', arrange: () => make(0o777) },
    { name: 'other users can read it', arrange: () => make(0o755) },
    { name: 'it is a link', arrange: () => symlinkSync(home, folder) },
    { name: 'other users can replace it', arrange: () => chmodSync(caches, 0o777) },
  ])('is not used if $name', ({ arrange }) => {
    arrange()
    expect(compileCacheFolder({ HOME: home })).toBeUndefined()
  })

  it('is not created without a cache folder, or if the user disabled the cache', () => {
    expect(compileCacheFolder({})).toBeUndefined()
    expect(compileCacheFolder({ HOME: join(home, 'missing') })).toBeUndefined()
    expect(compileCacheFolder({ XDG_CACHE_HOME: 'relative' })).toBeUndefined()
    expect(compileCacheFolder({ HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' })).toBeUndefined()
    expect(existsSync(folder)).toBe(false)
  })
})

function make(mode: number): void {
  mkdirSync(folder)
  chmodSync(folder, mode)
}
