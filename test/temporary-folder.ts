import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Gives each run of the tests a temporary folder of its own and removes it with everything that tests left in it.
 * The name is short: the path of a unix socket has at most 107 bytes.
 */
export function setup(): () => void {
  const before = process.env['TMPDIR']
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'kc-'))
  // As open as the folder it takes the place of: some tests act as another user.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  return () => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
