import { pbkdf2 } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, it } from 'vitest'
import { nodeFiles } from '../../src/node/node-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-files-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a watched file', () => {
  /** Watches `path` while `change` runs; resolves when the change is reported. */
  async function notices(path: string, change: () => void): Promise<void> {
    let resolve = (): void => {}
    const promise = new Promise<void>((noticed) => {
      resolve = noticed
    })
    const stop = nodeFiles.watch(path, resolve)
    // The timer of the watch does not keep the process alive.
    const alive = setInterval(() => {}, 1000)
    try {
      change()
      await promise
    } finally {
      clearInterval(alive)
      stop()
    }
  }

  it('that changes before the first poll is noticed', async () => {
    const path = join(folder, 'ca.pem')
    writeFileSync(path, 'first')
    // As many as libuv has threads: none is free for a stat.
    const busy = Array.from({ length: 4 }, () => promisify(pbkdf2)('p', 's', 200_000, 32, 'sha512'))
    await notices(path, () => writeFileSync(path, 'second, and longer'))
    await Promise.all(busy)
  })

  it.each<[string, (path: string) => void]>([
    ['is removed', (path) => rmSync(path)],
    ['is emptied', (path) => writeFileSync(path, '')],
    [
      'is replaced by one of the same size',
      (path) => {
        writeFileSync(`${path}.new`, 'other')
        renameSync(`${path}.new`, path)
      },
    ],
  ])('that %s is noticed', async (_, change) => {
    const path = join(folder, 'token')
    writeFileSync(path, 'first')
    await notices(path, () => change(path))
  })

  it('that appears is noticed', async () => {
    const path = join(folder, 'late')
    await notices(path, () => writeFileSync(path, 'here'))
  })

  it('behind a symbolic link is noticed when the link is swapped, as Kubernetes does', async () => {
    writeFileSync(join(folder, 'old'), 'same')
    writeFileSync(join(folder, 'new'), 'same')
    const path = join(folder, 'token')
    symlinkSync('old', path)
    await notices(path, () => {
      symlinkSync('new', `${path}.next`)
      renameSync(`${path}.next`, path)
    })
  })
})
